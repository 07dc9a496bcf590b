# The WebAssembly programs. With TABACUS_THREADS there is one, which threads() loads into memory that
# threads share. Without it there are the program of a tab (cmake/tab.cmake), the laboratory and the emulator,
# each in memory of its own. Those with glue are linked once, with glue for browsers and for Node;
# scripts/lib/glue.js keeps of the glue what one platform needs.

option(TABACUS_THREADS "The program in shared memory, with C++ threads, instead of the others" OFF)

# Without exceptions the programs are a fifth smaller; task.hpp passes failures on instead. Link-time
# optimisation inlines into an export what it calls, and drops functions that no export calls.
# The laboratory runs programs that throw, so it has objects of its own, which are compiled with exceptions.
add_compile_options(-flto)
add_link_options(-flto)
# Link-time optimisation orders static data by hashes that contain the name of the compiled file. CMake names files by
# absolute paths, so that the same sources would give another program in another folder. The compiled file is therefore
# Ninja's empty standard input, under the object's relative name, and it includes the source.
set(CMAKE_CXX_COMPILE_OBJECT "<CMAKE_CXX_COMPILER> <DEFINES> <INCLUDES> <FLAGS> -include <SOURCE> \
-Xclang -main-file-name -Xclang <OBJECT> -o <OBJECT> -x c++ -c -")
if(TABACUS_THREADS)
    add_compile_options(-pthread)
    add_link_options(-pthread)
    # Where the arena ends, and the static data of threads.wasm begins (wasm/src/sync/main_arena.hpp).
    set(main_arena_end 2097152)
    add_compile_definitions(TABACUS_MAIN_ARENA_END=${main_arena_end})
endif()

tabacus_sources(threads_sources wasm/src/sync wasm/src/bindings/threads)
tabacus_sources(cold_sources ${protocol_folders} wasm/src/browser wasm/src/browser/core)
tabacus_sources(binding_sources wasm/src/bindings)

# These programs mostly wait for the browser, so their size matters more than their speed. Functions that applications
# call in inner loops are in attach.wasm.
set_source_files_properties(${threads_sources} PROPERTIES COMPILE_OPTIONS -Oz)
# They need no types at run time (-fno-rtti); the names of types would be a twentieth of the module. There is one class
# of World in a module, so link-time optimisation calls its methods directly and drops those that are not called.
# That is sound only if every file that calls a World, a Counter or a part of them is compiled with this option.
set(cold_options -Oz -fno-rtti -fvisibility=hidden -fwhole-program-vtables -fvirtual-function-elimination)

# Long members of std::string that a protocol calls hundreds of times are never inlined. Functions of a library cannot
# be given an attribute, but the compiler accepts their names, which contain the version of the library's ABI.
set(string_type "St3__212basic_stringIcNS_11char_traitsIcEENS_9allocatorIcEEE")
foreach(member
        NK@cvNS_17basic_string_viewIcS2_EEB8nn210108Ev # operator std::string_view() const
        NK@4dataB8nn210108Ev
        NK@4sizeB8nn210108Ev
        NK@5emptyB8nn210108Ev
        N@C2B8nn210108Ev # string()
        N@C2B8nn210108EOS5_ # string(string&&)
        N@C2B8nn210108ILi0EEEPKc # string(const char*)
        N@aSB8nn210108EOS5_ # operator=(string&&)
)
    string(REPLACE "@" "${string_type}" member "${member}")
    list(APPEND cold_options "-mllvm=-force-attribute=_Z${member}:noinline")
endforeach()
set_source_files_properties(${binding_sources} PROPERTIES COMPILE_OPTIONS "${cold_options}")

set(size_link_options
    -sWASM_BIGINT
    -sFILESYSTEM=0
    -sMALLOC=emmalloc
    # Without memory, malloc() returns null. If it aborted instead, it would do so while it holds its lock, and
    # the next caller in threads.wasm would spin for ever.
    -sABORTING_MALLOC=0
    -sSTACK_SIZE=64KB)
set(core_link_options
    --no-entry
    ${size_link_options}
    # A strict content security policy forbids `new Function`.
    -sDYNAMIC_EXECUTION=0
    -sMODULARIZE
    -sEXPORT_ES6
    # The options that our JavaScript may pass to the glue: a compiled module, bytes, or another address.
    # noExitRuntime must be among them. Without it, the glue takes the end of one thread for the end of the
    # program, and stops all other threads.
    -sINCOMING_MODULE_JS_API=wasm,instantiateWasm,locateFile,wasmMemory,noExitRuntime
)
if(TABACUS_THREADS)
    # The size is fixed, because views of a memory become invalid when it grows.
    list(APPEND core_link_options -sINITIAL_MEMORY=32MB -sDEFAULT_PTHREAD_STACK_SIZE=64KB)
    list(APPEND core_link_options -sGLOBAL_BASE=${main_arena_end})
    # With it js/threads/cpp-program.js ends the Workers.
    list(APPEND core_link_options -sEXPORTED_RUNTIME_METHODS=PThread)
    list(APPEND core_link_options --js-library ${PROJECT_SOURCE_DIR}/cmake/mailbox.js)
else()
    list(APPEND core_link_options -sINITIAL_MEMORY=1MB -sALLOW_MEMORY_GROWTH)
endif()

# tabacus_module(<name> <options> <objects>...): links <build>/<name>.js and .wasm.
function(tabacus_module name options)
    set(objects "")
    foreach(library IN LISTS ARGN)
        list(APPEND objects $<TARGET_OBJECTS:${library}>)
    endforeach()
    add_executable(${name} ${objects})
    target_link_options(
        ${name} PRIVATE ${core_link_options} ${options} -sENVIRONMENT=web,worker,node)
    set_target_properties(
        ${name} PROPERTIES
        LINK_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/mailbox.js;${PROJECT_SOURCE_DIR}/cmake/surrogates.js")
endfunction()

# tabacus_objects(<name> <options> <source>...): compiles sources once, for all modules that contain them.
function(tabacus_objects name options)
    add_library(${name} OBJECT ${ARGN})
    target_include_directories(${name} PRIVATE wasm/include wasm/src)
    target_compile_options(${name} PRIVATE ${options})
endfunction()

set(small_options -Oz -fno-exceptions)

if(TABACUS_THREADS)
    tabacus_objects(tabacus_threads "-fno-exceptions" ${threads_sources})
    tabacus_module(threads "${small_options}" tabacus_threads)
    include(cmake/attach.cmake)
    include(cmake/bench.cmake)
    include(cmake/wasm-tests.cmake)
else()
    tabacus_units(${cold_sources})
    tabacus_objects(tabacus_protocols "-fno-exceptions;${cold_options}" ${cold_sources})
    set_target_properties(tabacus_protocols PROPERTIES UNITY_BUILD ON)
    tabacus_objects(tabacus_tab "-fno-exceptions" ${binding_sources})
    # The protocols are compiled once more, with exceptions, from the same sources. The older encoding of exceptions
    # is used, because some engines, such as Node 20, do not know the newer one.
    set(lab_options -O3 -fwasm-exceptions -sWASM_LEGACY_EXCEPTIONS=1)
    tabacus_sources(lab_sources ${protocol_folders} ${lab_folders})
    tabacus_sources(lab_binding_sources wasm/src/bindings/lab)
    tabacus_sources(emulator_binding_sources wasm/src/bindings/emulator)
    tabacus_units(${lab_sources})
    tabacus_objects(tabacus_lab "${lab_options}" ${lab_sources})
    set_target_properties(tabacus_lab PROPERTIES UNITY_BUILD ON)
    tabacus_objects(tabacus_lab_bindings "${lab_options}" ${lab_binding_sources})
    tabacus_objects(tabacus_emulator_bindings "${lab_options}" ${emulator_binding_sources})
    include(cmake/tab.cmake)
    # The laboratory and the emulator are bound by embind, because no page of an application loads them: embind adds
    # 8 KB to the laboratory and 13 KB to the emulator, compressed. EMBIND_AOT writes its functions at link time,
    # since a strict content security policy forbids making them at run time. embind writes to the result of malloc()
    # without a check, so malloc() must abort if there is no memory.
    set(embind_options -lembind -sEMBIND_AOT -sABORTING_MALLOC=1)
    # emcc writes the types of the bindings into a folder that tsconfig.json overlays on js.
    foreach(module lab emulator)
        file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/types/${module})
    endforeach()
    tabacus_module(
        lab "${lab_options};${embind_options};--emit-tsd=types/lab/lab.d.ts" tabacus_lab
        tabacus_lab_bindings)
    # The emulator allocates with every call of a test's code, so its speed matters more than its size.
    tabacus_module(
        emulator
        "${lab_options};${embind_options};-sMALLOC=dlmalloc;--emit-tsd=types/emulator/emulator.d.ts;--js-library=${PROJECT_SOURCE_DIR}/cmake/surrogates.js"
        tabacus_lab tabacus_emulator_bindings)
endif()
