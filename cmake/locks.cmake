# locks.wasm: the locks over tabs, a module of its own that is loaded by who asks for it. It has no
# threads, whatever the page's core has: a tab's locks are taken on its one thread.

tabacus_sources(locks_sources wasm/src/locks)
set(locks_protocol_sources ${cold_sources})
list(FILTER locks_protocol_sources INCLUDE REGEX "protocol/(lock_|names|record|error)|browser/")
list(FILTER locks_protocol_sources EXCLUDE REGEX "browser/core")
set_source_files_properties(${locks_sources} PROPERTIES COMPILE_OPTIONS "-Oz;-fno-rtti")

add_library(locks_objects OBJECT ${locks_sources} ${locks_protocol_sources})
target_include_directories(locks_objects PRIVATE wasm/include wasm/src)

# tabacus_locks(<platform> <environments>): <build>/<platform>/locks.js and .wasm.
function(tabacus_locks platform environments)
    set(target locks-${platform})
    add_executable(${target} $<TARGET_OBJECTS:locks_objects>)
    target_link_options(${target} PRIVATE ${core_link_options} -sENVIRONMENT=${environments})
    set_target_properties(${target} PROPERTIES
        OUTPUT_NAME locks
        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${platform})
endfunction()

tabacus_locks(web web,worker)
tabacus_locks(node node)
