# A C++ program with threads, as an application may have one: the program of C++ threads together with functions
# of a test, for Node. It is <build>/storers.js and .wasm.

tabacus_sources(storers_sources tests/wasm)
tabacus_objects(tabacus_storers "-fno-exceptions" ${storers_sources})
tabacus_module(storers "${small_options}" tabacus_threads tabacus_storers)
# It is not part of the default target, so that a build of the package or of the demo does not wait for it.
set_target_properties(tabacus_storers storers PROPERTIES EXCLUDE_FROM_ALL ON)
