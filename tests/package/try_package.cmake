# Installs BUILD_DIR below WORK_DIR, with PACKAGE=DEB by way of the .deb that cpack makes of it, builds the project beside
# this file against that and runs the result.
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
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK_DIR}/build -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${prefix}
    -DCMAKE_BUILD_TYPE=Release -DTAPECL_VERSION=${VERSION})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run(${WORK_DIR}/build/package_user)
