# Configures SOURCE_DIR for dlprim alone, installs it below WORK_DIR, builds the project beside this file against that, and
# trains with it.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY OUTPUT_VARIABLE output ECHO_OUTPUT_VARIABLE)
  set(output "${output}" PARENT_SCOPE)
endfunction()

# Most of the time goes to the compiler.
set(options -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0)

file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${WORK_DIR}/library ${options} -DTAPECL_BUILD_AUTOGRAD=OFF
    -DTAPECL_BUILD_EXAMPLES=OFF -DTAPECL_BUILD_TESTS=OFF -DTAPECL_BUILD_TOOLS=OFF)
run(${CMAKE_COMMAND} --build ${WORK_DIR}/library)
run(${CMAKE_COMMAND} --install ${WORK_DIR}/library --prefix ${WORK_DIR}/prefix)
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK_DIR}/build ${options}
    -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix -DEXAMPLES_DIR=${SOURCE_DIR}/examples)
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run(${WORK_DIR}/build/first_program)
run(${WORK_DIR}/build/mnist_dlprim)
if(NOT output MATCHES "test accuracy ([0-9.]+) %" OR CMAKE_MATCH_1 LESS 95)
  message(FATAL_ERROR "The net has not learned: expected a test accuracy of 95 % at least")
endif()
