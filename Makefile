# The commands of daily work. Each first runs tools/setup, which installs what
# is missing and is quick when nothing is.
#
#   BUILD=folder         where to build (build)
#   JOBS=n               how much at once (all processors)
#   CMAKE_FLAGS="-D..."  more options for CMake; they are kept in BUILD
#   BENCH_FLAGS=--quick  measure for 2 minutes (bench)
#   PYTHON_TESTS=torch   install torch for the tests where it is missing (test)

BUILD ?= build
JOBS ?= $(shell nproc)
CMAKE_FLAGS ?=
PREFIX ?= $(BUILD)/aclnn
PYTHON_TESTS ?= auto
export CMAKE_GENERATOR ?= Ninja

.PHONY: help setup configure build demo test test-torch test-model bench \
  instructions lint wheel aclnn install clean
.DEFAULT_GOAL := help

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1	/p' $(MAKEFILE_LIST) | expand -t 18

setup:
	@tools/setup

configure: setup
	@if [ -n "$(CMAKE_FLAGS)" ] || \
	  ! [ -e $(BUILD)/build.ninja -o -e $(BUILD)/Makefile ]; \
	then cmake -S . -B $(BUILD) $(CMAKE_FLAGS); fi

build: configure ## Build all; the command line is then build/bin/ropewalk
	@cmake --build $(BUILD) -j $(JOBS)

demo: configure ## Rotate real activations of a language model, show a table
	@cmake --build $(BUILD) -j $(JOBS) --target ropewalk-demo
	@$(BUILD)/bin/ropewalk-demo --data data --out $(BUILD)/demo

test: build ## Build and run all tests
	@ctest --test-dir $(BUILD) -j $(JOBS) --output-on-failure
	@tools/setup python
	@BUILD=$(BUILD) tools/test_python $(PYTHON_TESTS)

test-torch: setup ## Install torch and run the tests of Python
	@tools/setup python
	@BUILD=$(BUILD) tools/test_python torch

test-model: setup ## Run a language model, with torch and transformers
	@tools/setup python
	@BUILD=$(BUILD) tools/test_python model

bench: configure ## Measure against a copy and other libraries; 10 minutes
	@tools/setup python
	@cmake --build $(BUILD) -j $(JOBS) \
	  --target ropewalk-cli ropewalk_shared ropewalk_yardstick
	@tools/bench $(BUILD) $(BENCH_FLAGS)

instructions: build ## Take today's counts of instructions into the gate
	@cmake --build $(BUILD) --target instructions

lint: ## Check format, include rules, and the code by clang-tidy
	@tools/setup lint
	@tools/lint --all

install: build ## Install headers, libraries and programs to PREFIX
	@cmake --install $(BUILD) --prefix $(PREFIX)

wheel: ## Build a wheel of the Python package in BUILD/wheels
	@tools/setup python
	@BUILD=$(BUILD) tools/wheel $(BUILD)/wheels

aclnn: configure ## Build the aclnn libraries and install them to PREFIX
	@cmake --build $(BUILD) -j $(JOBS) --target aclnn
	@cmake --install $(BUILD) --prefix $(PREFIX) --component aclnn

clean: ## Remove what was built
	@rm -rf $(BUILD)
