# The module of the benchmarks in WebAssembly (bench/wasm): <build>/web/bench.js. It has our shared memory
# and the peers with which that is compared. It is built only on request.

tabacus_sources(bench_sources bench/wasm)
if(bench_sources)
    add_executable(bench EXCLUDE_FROM_ALL ${bench_sources})
    target_include_directories(bench PRIVATE wasm/include wasm/src)
    target_compile_options(bench PRIVATE -O3 -fno-exceptions)
    target_link_options(bench PRIVATE ${core_link_options} -lembind -sEMBIND_AOT -O3 -fno-exceptions -sENVIRONMENT=web,worker)
    set_target_properties(bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/web)
endif()
