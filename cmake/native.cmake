# The core as a native library, its tests (Catch2, run by CTest) and its benchmarks.

set(TABACUS_SANITIZE "" CACHE STRING "What -fsanitize= is given, in every part; empty for none")

find_package(Threads REQUIRED)

if(TABACUS_SANITIZE)
    # Every report ends the process, so that CTest notices it. The code is optimised a little, since the
    # sanitizers are slow; assertions stay on. Only AddressSanitizer checks the sizes of objects: if both
    # sanitizers did, these checks would take a third of the compiler's time.
    add_compile_options(
        -O1 -mllvm -fast-isel -gline-tables-only -fsanitize=${TABACUS_SANITIZE} -fno-sanitize=object-size
        -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${TABACUS_SANITIZE})
endif()

# The debug build compiles each file by itself, so that little is compiled after a change of one file.
if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    set(CMAKE_UNITY_BUILD ON)
endif()

# This linker takes a fifth of the time of the default one.
find_program(LLD ld.lld)
if(LLD)
    add_link_options(-fuse-ld=lld)
endif()

tabacus_sources(library_sources wasm/src/sync ${protocol_folders} ${lab_folders} wasm/src/lab/threads)
set(test_folders sync common replica strategy lock queue limit lab explore litmus)
list(TRANSFORM test_folders PREPEND tests/native/)
tabacus_sources(test_sources ${test_folders})
if(TABACUS_SANITIZE MATCHES "thread")
    # Only the code that threads share is tested here, because all other tests use one thread.
    tabacus_sources(library_sources wasm/src/sync)
    list(FILTER test_sources INCLUDE REGEX "/sync_[a-z_]+[.]cpp$")
endif()
if(TABACUS_SANITIZE)
    # Explorations of millions of schedules are left to the release build. Here the sanitizers check the
    # code that they run, and the explorer by its own tests.
    set(explorations
        counters deaths explorer idle limits locks long matrix planted positions queue rewinder scenes state tab_request
        threads)
    list(JOIN explorations "|" explorations)
    list(FILTER test_sources EXCLUDE REGEX "/(explore_(${explorations})|litmus(_model)?)[.]cpp$")
    # A failure destroys the frames that it passes, as it does in the core in a browser (task.hpp). In the
    # other builds it is thrown through them, in the same tests.
    add_compile_definitions(TABACUS_UNWIND_BY_DESTRUCTION)
endif()
tabacus_sources(bench_sources bench/native)

tabacus_units(${library_sources} ${test_sources})

# A library without a source file, which has only headers, must be an INTERFACE library.
if(library_sources)
    add_library(tabacus STATIC ${library_sources})
    set(visibility PUBLIC)
else()
    add_library(tabacus INTERFACE)
    set(visibility INTERFACE)
endif()
target_include_directories(tabacus ${visibility} wasm/include wasm/src)
target_link_libraries(tabacus ${visibility} Threads::Threads)

# The malloc by which a search restores an earlier point of a run (lab/explore/run_arena.hpp). It needs
# the GNU C library. A build with a sanitizer does without it, because the sanitizer replaces malloc itself.
set(malloc_sources "")
if(NOT TABACUS_SANITIZE)
    include(CheckCXXSourceCompiles)
    check_cxx_source_compiles(
        "extern \"C\" void* __libc_malloc(decltype(sizeof 0)); int main() { return __libc_malloc(1) == nullptr; }"
        TABACUS_HAS_LIBC_MALLOC)
    if(TABACUS_HAS_LIBC_MALLOC)
        set(malloc_sources wasm/src/lab/malloc/replaced_malloc.cpp)
    endif()
endif()

enable_testing()

# tabacus_test(<name> <spec>): a test of CTest of the test cases that Catch2 finds by the specification.
function(tabacus_test name spec)
    add_test(NAME ${name}
             COMMAND tabacus_tests --filenames-as-tags ${spec}
                     --reporter console --reporter junit::out=${PROJECT_BINARY_DIR}/reports/${name}.xml)
endfunction()

if(test_sources)
    find_package(Catch2 3 REQUIRED)
    add_executable(tabacus_tests ${test_sources} ${malloc_sources})
    target_include_directories(tabacus_tests PRIVATE tests/native)
    target_link_libraries(tabacus_tests PRIVATE tabacus Catch2::Catch2WithMain)
    if(TABACUS_SANITIZE)
        # The tests themselves are most of the code, but take little of the running time. Without
        # optimisation they compile in half the time.
        target_compile_options(tabacus_tests PRIVATE -O0)
    endif()
    # Each file of tests is one test of CTest. With a process for each test case, a build with a sanitizer
    # would spend most of its time on starting processes. The hidden tests tagged [long] are tests of CTest
    # with the label "long" in the release build; `npm run proof` runs them.
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${test_sources})
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/reports)
    foreach(source IN LISTS test_sources)
        file(STRINGS ${source} cases REGEX "TEST_CASE")
        file(STRINGS ${source} hidden REGEX "\"\\[[.]\\]\\[")
        file(STRINGS ${source} long REGEX "\"\\[[.]\\]\\[long\\]")
        list(LENGTH cases cases_count)
        list(LENGTH hidden hidden_count)
        get_filename_component(file ${source} NAME_WE)
        if(cases_count GREATER hidden_count)
            tabacus_test(${file} "[#${file}]~[.]")
        endif()
        if(long AND CMAKE_BUILD_TYPE STREQUAL "Release")
            tabacus_test(${file}_long "[#${file}][long]")
            set_tests_properties(${file}_long PROPERTIES LABELS long)
        endif()
    endforeach()
endif()

# The parsers of stored records and of messages are also tested by libFuzzer, if the compiler has it. A run
# is short, has a fixed seed and length, and uses AddressSanitizer.
if(TABACUS_SANITIZE MATCHES "address")
    include(CheckCXXSourceCompiles)
    set(CMAKE_REQUIRED_LINK_OPTIONS -fsanitize=fuzzer)
    check_cxx_source_compiles(
        "extern \"C\" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }"
        TABACUS_HAS_FUZZER)
    unset(CMAKE_REQUIRED_LINK_OPTIONS)
    if(TABACUS_HAS_FUZZER)
        add_executable(fuzz_records tests/native/fuzz/records.cpp)
        foreach(part common/record common/names lock/lock_record queue/queue_record limit/limit_record)
            target_sources(fuzz_records PRIVATE wasm/src/protocol/${part}.cpp)
        endforeach()
        target_include_directories(fuzz_records PRIVATE wasm/include wasm/src)
        target_compile_options(fuzz_records PRIVATE -fsanitize=fuzzer)
        target_link_options(fuzz_records PRIVATE -fsanitize=fuzzer)
        add_test(NAME fuzz_records COMMAND fuzz_records -runs=200000 -seed=1 -max_len=256
                 # New inputs are written into the first folder, which is outside of the repository.
                 ${PROJECT_BINARY_DIR}/found ${PROJECT_SOURCE_DIR}/tests/native/fuzz/records)
        file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/found)
    endif()
endif()

# The program that `npm run matrix` runs.
add_executable(tabacus_matrix EXCLUDE_FROM_ALL wasm/src/matrix/main.cpp ${malloc_sources})
target_link_libraries(tabacus_matrix PRIVATE tabacus)

if(bench_sources)
    add_executable(tabacus_bench EXCLUDE_FROM_ALL ${bench_sources})
    target_link_libraries(tabacus_bench PRIVATE tabacus)
endif()
