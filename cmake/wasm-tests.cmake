# What a C++ program of somebody's own does on threads: the program of C++ threads with the test's functions
# beside it, for Node. <build>/storers.js and .wasm.

tabacus_sources(storers_sources tests/wasm)
tabacus_objects(tabacus_storers "-fno-exceptions" ${storers_sources})
tabacus_module(storers "${small_options}" tabacus_threads tabacus_storers)
# Who only builds the package, or the demo, does not wait for it.
set_target_properties(tabacus_storers storers PROPERTIES EXCLUDE_FROM_ALL ON)
