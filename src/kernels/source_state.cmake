# The state of a kernel's sources, recorded in the header of every line file: which code measured
# this? It is that of what all kernels of its library share, of what those of its study share, and of
# the kernel's own files: another kernel changes nothing. CMake computes it, so that whoever calls
# CMake (a check, Spack, a person) gets the same one. onesided.environments.fingerprint.kernel_source_state()
# is the same in Python.

# Set `result` to the first 12 digits of the SHA-256 over a line "<SHA-256 of the file>  <path>" a
# file, in byte order of the paths; that is, of what sha256sum prints. The files are those of the
# folders `common`, those of `shared` that are not for the other library, and those of `own`, a file
# or a folder. CMake runs again before a build where a file has changed since.
function(compute_source_state own common shared other_library result)
  set(patterns ${own}/*.[ch] ${own}/*.txt ${shared}/*.[ch])
  foreach(folder IN LISTS common)
    list(APPEND patterns ${folder}/*.[ch])
  endforeach()
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${patterns})
  list(FILTER files EXCLUDE REGEX "^${shared}/.*_${other_library}[.][ch]$")
  file(GLOB others CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}
       CMakeLists.txt *.cmake ${own})
  list(FILTER others INCLUDE REGEX "[.](c|txt|cmake)$")
  list(APPEND files ${others})
  list(SORT files COMPARE STRING CASE SENSITIVE)
  set(lines "")
  foreach(file IN LISTS files)
    # each file is read once, for all kernels
    get_property(digest GLOBAL PROPERTY sha256_of_${file})
    if(NOT digest)
      file(SHA256 ${CMAKE_CURRENT_SOURCE_DIR}/${file} digest)
      set_property(GLOBAL PROPERTY sha256_of_${file} ${digest})
    endif()
    string(APPEND lines "${digest}  ${file}\n")
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  string(SHA256 digest "${lines}")
  string(SUBSTRING ${digest} 0 12 digest)
  set(${result} ${digest} PARENT_SCOPE)
endfunction()
