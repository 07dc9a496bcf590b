# tab.wasm: the program of a tab, without glue. js/core/program.js instantiates it.

function(tabacus_program name)
    add_executable(${name} $<TARGET_OBJECTS:tabacus_protocols> $<TARGET_OBJECTS:tabacus_tab>)
    set_target_properties(${name} PROPERTIES SUFFIX .wasm)
    target_link_options(
        ${name} PRIVATE --no-entry -Oz -fno-exceptions -sSTANDALONE_WASM -sWASM_BIGINT -sFILESYSTEM=0
        -sMALLOC=emmalloc -sABORTING_MALLOC=0 -sSTACK_SIZE=64KB -sINITIAL_MEMORY=1MB -sALLOW_MEMORY_GROWTH
        -sERROR_ON_UNDEFINED_SYMBOLS=0 --profiling-funcs ${ARGN})
endfunction()

tabacus_program(tab)
tabacus_program(tab-analysis -Wl,--table-base=16777216 -sGLOBAL_BASE=268435456 -sINITIAL_MEMORY=512MB)
