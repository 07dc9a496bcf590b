# One WebAssembly core, with threads or without. It is linked twice, for browsers and for Node,
# because one glue file for both is refused by webpack, esbuild and Vite.

option(TABACUS_THREADS "Shared memory and C++ threads" OFF)
if(TABACUS_THREADS)
    set(core threads)
else()
    set(core single)
endif()

# Exceptions are WebAssembly's own: smaller and faster than Emscripten's emulation. Link-time
# optimisation lets an export inline what it calls and drop what nobody does.
add_compile_options(-fwasm-exceptions -flto)
add_link_options(-fwasm-exceptions -flto)
if(TABACUS_THREADS)
    add_compile_options(-pthread)
    add_link_options(-pthread)
endif()

tabacus_sources(hot_sources wasm/src/sync)
tabacus_sources(cold_sources wasm/src/protocol wasm/src/browser)
tabacus_sources(binding_sources wasm/src/bindings)

# Shared memory is the inner loop of other people's programs; all the rest waits for a browser.
set_source_files_properties(${hot_sources} PROPERTIES COMPILE_OPTIONS -O3)
set_source_files_properties(${binding_sources} PROPERTIES COMPILE_OPTIONS -Oz)
# They ask for no type at run time, and the names of their types are a twentieth of the module.
set_source_files_properties(${cold_sources} PROPERTIES COMPILE_OPTIONS "-Oz;-fno-rtti")

set(core_link_options
    -Oz
    --no-entry
    # A strict content security policy forbids `new Function`.
    -sDYNAMIC_EXECUTION=0
    # For texts: js/core/border.js reads and writes them.
    -sEXPORTED_RUNTIME_METHODS=HEAPU8
    -sMODULARIZE
    -sEXPORT_ES6
    -sWASM_BIGINT
    -sFILESYSTEM=0
    -sMALLOC=emmalloc
    -sSTACK_SIZE=64KB
    # All that the facade may hand to the glue: a ready module or bytes, or another address.
    # noExitRuntime must be among them: without it the glue believes that the program has ended as
    # soon as one of its threads has, and stops all others.
    -sINCOMING_MODULE_JS_API=wasm,instantiateWasm,locateFile,wasmMemory,noExitRuntime
)
if(TABACUS_THREADS)
    # Its invokers are written at link time (EMBIND_AOT), for the content security policy's sake.
    list(APPEND core_link_options -lembind -sEMBIND_AOT)
    # Fixed: typed-array views over a memory that grows go stale.
    list(APPEND core_link_options -sINITIAL_MEMORY=16MB -sDEFAULT_PTHREAD_STACK_SIZE=64KB)
else()
    list(APPEND core_link_options -sINITIAL_MEMORY=1MB -sALLOW_MEMORY_GROWTH)
endif()

# tabacus_core(<platform> <environments>): <build>/<platform>/<core>.js and .wasm.
function(tabacus_core platform environments)
    set(target ${core}-${platform})
    add_executable(${target} $<TARGET_OBJECTS:tabacus_objects>)
    target_link_options(${target} PRIVATE ${core_link_options} -sENVIRONMENT=${environments})
    set_target_properties(${target} PROPERTIES
        OUTPUT_NAME ${core}
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${platform})
endfunction()

set(core_sources ${hot_sources} ${cold_sources} ${binding_sources})
if(core_sources)
    add_library(tabacus_objects OBJECT ${core_sources})
    target_include_directories(tabacus_objects PRIVATE wasm/include wasm/src)
endif()

# A core without bindings has no way in, and EMBIND_AOT refuses to link it.
if(binding_sources)
    tabacus_core(web web,worker)
    tabacus_core(node node)
endif()

if(NOT TABACUS_THREADS)
    include(cmake/locks.cmake)
endif()

if(TABACUS_THREADS)
    include(cmake/attach.cmake)
    include(cmake/bench.cmake)
endif()
