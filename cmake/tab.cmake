# tab.wasm: the program of a tab, which scripts/lib/split-program.js splits into pieces. It has no glue:
# js/core/program.js instantiates it, and gives it its imports.

function(tabacus_program name)
    add_executable(${name} $<TARGET_OBJECTS:tabacus_protocols> $<TARGET_OBJECTS:tabacus_tab>)
    set_target_properties(${name} PROPERTIES SUFFIX .wasm)
    target_link_options(
        ${name} PRIVATE
        --no-entry ${small_options} ${size_link_options}
        -sSTANDALONE_WASM
        -sALLOW_MEMORY_GROWTH
        # The functions are split by their names.
        --profiling-funcs
        # A call takes fewer bytes than even a small function in its place, compressed.
        -Wl,-mllvm,-inline-threshold=-30
        ${ARGN})
endfunction()

tabacus_program(tab -sINITIAL_MEMORY=1MB)
# The same program with a table at 2^24 and data at 2^28 + 2^16, where no other constant of it lies: by its
# constants, scripts/lib/program-graph.js sees which functions and data refer to which. 2^28 itself is a
# constant of functions that are always loaded, to which the first object of the data would be ascribed.
tabacus_program(
    tab-analysis -Wl,--table-base=16777216 -sGLOBAL_BASE=268500992 -sINITIAL_MEMORY=512MB)
