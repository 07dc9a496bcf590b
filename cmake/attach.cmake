# attach.wasm and store.wasm: modules that each thread instantiates over the memory of threads(), including the page
# and an application's own Workers. Other threads use that memory already. So the modules must have no data, no table
# and no start function (scripts/lib/attach-check.js asserts that). They are linked by wasm-ld, because emcc would add
# a start function that writes into the memory. Their stack pointer is exported, so that JavaScript can set it.

get_filename_component(compiler_folder ${CMAKE_CXX_COMPILER} DIRECTORY)
foreach(part LLVM_ROOT BINARYEN_ROOT)
    execute_process(
        COMMAND ${compiler_folder}/em-config ${part}
        OUTPUT_VARIABLE ${part} OUTPUT_STRIP_TRAILING_WHITESPACE)
endforeach()
find_program(WASM_LD wasm-ld HINTS ${LLVM_ROOT} REQUIRED)
find_program(WASM_OPT wasm-opt HINTS ${BINARYEN_ROOT}/bin REQUIRED)

# tabacus_freestanding(<name> <options>): builds <build>/<name>.wasm from wasm/src/<name>.
#
# It shares only headers with the core. -fno-lto is needed because wasm-ld takes objects. With --stack-first
# the stack pointer begins at 0, so that a call before it is set traps at once, instead of writing into
# memory that others use. wasm-ld leaves an empty table, which wasm-opt drops.
function(tabacus_freestanding name)
    tabacus_sources(sources wasm/src/${name})
    set(objects tabacus_${name})
    add_library(${objects} OBJECT ${sources})
    target_include_directories(${objects} PRIVATE wasm/include wasm/src)
    target_compile_options(${objects} PRIVATE
        ${ARGN} -fno-lto -fno-exceptions -fno-rtti -fno-threadsafe-statics)
    add_custom_command(
        OUTPUT ${name}.wasm
        COMMAND ${WASM_LD} --no-entry --shared-memory --import-memory
                --max-memory=4294967296 -z stack-size=0 --stack-first --export=__stack_pointer
                --gc-sections --strip-debug -o ${name}.wasm $<TARGET_OBJECTS:${objects}>
        COMMAND ${WASM_OPT} -O3 --strip-producers --strip-target-features
                --enable-threads --enable-bulk-memory --enable-sign-ext
                --enable-mutable-globals --enable-nontrapping-float-to-int
                ${name}.wasm -o ${name}.wasm
        DEPENDS ${objects} $<TARGET_OBJECTS:${objects}>
        COMMAND_EXPAND_LISTS VERBATIM)
    add_custom_target(${name} ALL DEPENDS ${name}.wasm)
endfunction()

tabacus_freestanding(attach -O3)
# store.wasm is loaded by threads that share a storage or locks. Its size matters more than its speed.
tabacus_freestanding(store -O2)
