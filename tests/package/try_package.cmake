# Installs BUILD_DIR below WORK_DIR, with PACKAGE=DEB by way of the .deb that cpack makes of it, builds the projects beside
# this file against that and runs the results.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
if(PACKAGE STREQUAL "DEB")
  run(${CMAKE_CPACK_COMMAND} -G DEB --config ${BUILD_DIR}/CPackConfig.cmake -B ${WORK_DIR})
  file(GLOB package ${WORK_DIR}/libtapecl-dev_${VERSION}_*.deb)
  run(dpkg-deb --info ${package})
  run(dpkg-deb --extract ${package} ${WORK_DIR}/prefix)
  set(prefix ${WORK_DIR}/prefix/usr)
else()
  set(prefix ${WORK_DIR}/prefix)
  run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix})
endif()

# try_project(FOLDER PROGRAM): against the installation at `prefix`.
function(try_project folder program)
  run(${CMAKE_COMMAND} -S ${folder} -B ${WORK_DIR}/${program} -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${prefix}
      -DCMAKE_BUILD_TYPE=Release -DTAPECL_VERSION=${VERSION})
  run(${CMAKE_COMMAND} --build ${WORK_DIR}/${program})
  run(${WORK_DIR}/${program}/${program})
endfunction()
try_project(${CMAKE_CURRENT_LIST_DIR} package_user)
try_project(${CMAKE_CURRENT_LIST_DIR}/own_kernel own_kernel)

# The library of the C interface by itself.
if(NOT PACKAGE)
  set(prefix ${WORK_DIR}/runtime_prefix)
  run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix} --component runtime)
  try_project(${CMAKE_CURRENT_LIST_DIR}/runtime runtime_user)
endif()
