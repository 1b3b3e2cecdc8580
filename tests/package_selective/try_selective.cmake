# Builds the runner in SOURCE_DIR for one program alone (TAPECL_OPERATORS), below WORK_DIR, and compares it with the
# runner of all programs in BUILD_DIR: the program gives the same bits, and another one is refused by the name of its
# primitive.
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# refuse(PATTERN COMMAND...): the command fails, and says what PATTERN matches.
function(refuse pattern)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result ERROR_VARIABLE said OUTPUT_VARIABLE said)
  string(REGEX REPLACE "[ \n]+" " " said "${said}")  # CMake breaks lines
  if(result EQUAL 0 OR NOT said MATCHES "${pattern}")
    message(FATAL_ERROR "Expected a failure with '${pattern}', got ${result} and '${said}'")
  endif()
endfunction()

set(files ${SOURCE_DIR}/tests/python/export/files)
set(program ${files}/version_1.ocl)
set(other ${files}/version_2.ocl)  # it pools adaptively, which `program` does not
set(configure ${CMAKE_COMMAND} -S ${SOURCE_DIR} -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER})

file(REMOVE_RECURSE ${WORK_DIR})
refuse("there is no file .*no_such.ocl" ${configure} -B ${WORK_DIR}/refused -DTAPECL_OPERATORS=${files}/no_such.ocl)
refuse("is no exported program" ${configure} -B ${WORK_DIR}/refused -DTAPECL_OPERATORS=${files}/version_1_output.npy)

run(${configure} -B ${WORK_DIR}/build -DTAPECL_OPERATORS=${program})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run(${CMAKE_COMMAND} --install ${WORK_DIR}/build --prefix ${WORK_DIR}/prefix --component runtime --strip)
set(selective ${WORK_DIR}/prefix/bin/tapecl-run)
set(full ${BUILD_DIR}/tools/tapecl-run)

foreach(runner IN ITEMS full selective)
  run(${${runner}} ${program} -i ${files}/version_1_input.npy -o ${WORK_DIR}/${runner}.npy --repeat 3)
endforeach()
run(${CMAKE_COMMAND} -E compare_files ${WORK_DIR}/full.npy ${WORK_DIR}/selective.npy)
run(${full} ${other} --show)
refuse("version_2.ocl: call [0-9]+: the primitive adaptive_avg_pool2d_forward is not in this build.*TAPECL_OPERATORS"
  ${selective} ${other} --show)

# A program of others links the library, which holds the kernels that its code names and no others.
run(${CMAKE_COMMAND} -S ${SOURCE_DIR}/tests/package/runtime -B ${WORK_DIR}/user -G ${GENERATOR}
    -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix -DTAPECL_VERSION=${VERSION})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/user)
run(${WORK_DIR}/user/runtime_user)
file(GLOB library ${WORK_DIR}/prefix/lib*/libtapecl_runtime.so.*.*.*)
file(STRINGS ${library} names REGEX "^ops/[a-z0-9_/]+\\.cl$")
foreach(name IN ITEMS ops/conv/conv_tiles_cpu.cl ops/pool/max_pool.cl)
  if(NOT name IN_LIST names)
    message(FATAL_ERROR "The library lacks ${name}, which the program needs")
  endif()
endforeach()
list(FILTER names INCLUDE REGEX "^ops/(sort|attention|rnn|fft|optim)/")
if(names)
  message(FATAL_ERROR "The library holds kernels that the program does not need: ${names}")
endif()
