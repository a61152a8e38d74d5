#!/usr/bin/env python3
"""Installs the tree, and builds and runs the examples as strangers do: with
nothing but -I and -L, as a CMake project, and through dlopen.

    install_test.py BUILD_DIR SOURCE_DIR WORK_DIR CXX CC CMAKE
"""

import os
import pathlib
import shutil
import subprocess
import sys

import examples_reference

LIBRARIES = ["ascendcl", "nnopbase", "opapi_math", "opapi_transformer"]


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True,
                          capture_output=True, text=True, **options).stdout


def install(cmake, build, tree):
    run(cmake, "--install", build, "--component", "aclnn", "--prefix", tree)
    for name in LIBRARIES + ["opapi"]:
        link = tree / "lib64" / f"lib{name}.so"
        assert link.is_symlink() and link.resolve().is_file(), link
    for folder in ("acl", "aclnn", "aclnnop", "aclnnop/level2"):
        assert list((tree / "include" / folder).glob("*.h")), folder


def compile_example(compiler, standard, tree, source, program):
    include = tree / "include"
    run(compiler, f"-std={standard}", "-Wall", "-Wextra", "-Werror",
        "-I", include, "-I", include / "aclnn", "-I", include / "aclnnop",
        source, "-o", program, "-L", tree / "lib64",
        *(f"-l{name}" for name in LIBRARIES))


def build_examples(examples, tree, work, cxx, cc):
    sources = {path.stem: path for path in
               (examples / "aclnn_ops").glob("*.cc")}
    sources["aclnn_decode_loop"] = examples / "aclnn_decode_loop" / "main.cc"
    programs = {}
    for name, source in sources.items():
        programs[name] = [work / name]
        compile_example(cxx, "c++11", tree, source, work / name)
    programs["aclnn_c99"] = [work / "aclnn_c99"]
    compile_example(cc, "c99", tree, examples / "aclnn_c99" / "main.c",
                    work / "aclnn_c99")
    programs["aclnn_ctypes"] = [sys.executable,
                                examples / "aclnn_ctypes" / "main.py",
                                tree / "lib64" / "libopapi.so"]
    return programs


def run_examples(programs, tree):
    assert programs.keys() == examples_reference.EXPECTED.keys()
    environment = {**os.environ, "LD_LIBRARY_PATH": str(tree / "lib64"),
                   "ASCEND_HOME_PATH": str(tree)}
    for name, command in sorted(programs.items()):
        examples_reference.check(name, run(*command, env=environment))
        print(f"{name}: as expected")


def cmake_project(cmake, examples, tree, work, cxx):
    """find_package(ropewalk_aclnn) is enough."""
    project = work / "project"
    project.mkdir()
    source = examples / "aclnn_ops" / "interleave_rope.cc"
    (project / "CMakeLists.txt").write_text(f"""
cmake_minimum_required(VERSION 3.16)
project(client CXX)
set(CMAKE_CXX_STANDARD 11)
find_package(ropewalk_aclnn REQUIRED)
add_executable(client {source})
target_link_libraries(client ropewalk_aclnn::ropewalk_aclnn)
""")
    run(cmake, "-S", project, "-B", project / "build",
        f"-DCMAKE_PREFIX_PATH={tree}", f"-DCMAKE_CXX_COMPILER={cxx}")
    run(cmake, "--build", project / "build")
    examples_reference.check("interleave_rope",
                             run(project / "build" / "client"))
    print("find_package: as expected")


def main():
    build, source, work, cxx, cc, cmake = sys.argv[1:]
    work = pathlib.Path(work)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    tree = work / "tree"
    examples = pathlib.Path(source) / "examples"
    install(cmake, build, tree)
    run_examples(build_examples(examples, tree, work, cxx, cc), tree)
    cmake_project(cmake, examples, tree, work, cxx)


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"{' '.join(error.cmd)}\n{error.stdout}{error.stderr}")
