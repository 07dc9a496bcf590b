# attach.wasm: the module of a user's own Worker, which attaches to the memory of a threads core that
# already runs. It must have no data, no table and no start function (scripts/lib/attach-check.js
# asserts it): emcc would add a start function that writes into the main module's data, so that
# wasm-ld links it, and its stack pointer is exported for the attaching side to set.

tabacus_sources(attach_sources wasm/src/attach)
if(NOT attach_sources)
    return()
endif()

# What the attached module shares with the core are headers; -fno-lto since wasm-ld takes objects.
add_library(tabacus_attach OBJECT ${attach_sources})
target_include_directories(tabacus_attach PRIVATE wasm/include wasm/src)
target_compile_options(tabacus_attach PRIVATE
    -O3 -fno-lto -fno-exceptions -fno-rtti -fno-threadsafe-statics)

get_filename_component(compiler_folder ${CMAKE_CXX_COMPILER} DIRECTORY)
foreach(part LLVM_ROOT BINARYEN_ROOT)
    execute_process(
        COMMAND ${compiler_folder}/em-config ${part}
        OUTPUT_VARIABLE ${part} OUTPUT_STRIP_TRAILING_WHITESPACE)
endforeach()
find_program(WASM_LD wasm-ld HINTS ${LLVM_ROOT} REQUIRED)
find_program(WASM_OPT wasm-opt HINTS ${BINARYEN_ROOT}/bin REQUIRED)
execute_process(
    COMMAND ${compiler_folder}/em-config BINARYEN_ROOT
    OUTPUT_VARIABLE binaryen_folder OUTPUT_STRIP_TRAILING_WHITESPACE)
find_program(WASM_OPT wasm-opt HINTS ${binaryen_folder}/bin REQUIRED)

# --stack-first: the stack pointer begins at 0, so that a call before it is set traps at once instead
# of writing into the main module's data. wasm-ld leaves an empty table, which wasm-opt drops.

add_custom_command(
    OUTPUT attach.wasm
    COMMAND ${WASM_LD} --no-entry --shared-memory --import-memory
            --max-memory=4294967296 -z stack-size=0 --stack-first --export=__stack_pointer
            --gc-sections --strip-all -o attach.wasm $<TARGET_OBJECTS:tabacus_attach>
    COMMAND ${WASM_OPT} -O3 --enable-threads --enable-bulk-memory --enable-sign-ext
            --enable-mutable-globals --enable-nontrapping-float-to-int attach.wasm -o attach.wasm
    DEPENDS tabacus_attach $<TARGET_OBJECTS:tabacus_attach>
    COMMAND_EXPAND_LISTS VERBATIM)
add_custom_target(attach ALL DEPENDS attach.wasm)
