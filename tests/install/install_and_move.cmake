# Installs BUILD, then moves the result to WORK/moved.
file(REMOVE_RECURSE ${WORK}/first ${WORK}/moved)
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD}
                        --prefix ${WORK}/first
                COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${WORK}/first ${WORK}/moved)
