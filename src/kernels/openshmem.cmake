# The flags of OpenSHMEM's wrapper compiler, as the target OpenSHMEM::OpenSHMEM.

# Set `result` to the flags that the wrapper adds for `purpose`.
function(ask_wrapper purpose result)
  execute_process(COMMAND ${ONESIDED_OPENSHMEM_COMPILER} --showme:${purpose}
                  OUTPUT_VARIABLE answer OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${answer}")
  set(${result} ${flags} PARENT_SCOPE)
endfunction()

ask_wrapper(compile compile_flags)
ask_wrapper(link link_flags)
# as for MPI: an RPATH, which no LD_LIBRARY_PATH overrides
list(TRANSFORM link_flags REPLACE "--enable-new-dtags" "--disable-new-dtags")
set(library_folders ${link_flags})
list(FILTER library_folders INCLUDE REGEX "^-L")
list(TRANSFORM library_folders REPLACE "^-L" "")
set(CMAKE_BUILD_RPATH ${library_folders})
set(CMAKE_INSTALL_RPATH ${library_folders})

add_library(OpenSHMEM::OpenSHMEM INTERFACE IMPORTED)
target_compile_options(OpenSHMEM::OpenSHMEM INTERFACE ${compile_flags})
target_link_libraries(OpenSHMEM::OpenSHMEM INTERFACE ${link_flags})
target_compile_definitions(OpenSHMEM::OpenSHMEM INTERFACE ONESIDED_OPENSHMEM)
