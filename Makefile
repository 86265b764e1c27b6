# The short words for everyday work. CMakePresets.json and scripts/ do the work; this file only names
# it.

PRESET ?= release
PORT   ?= 8443
PREFIX ?= /usr/local
MINUTES ?= 30
BUILD   = build/$(PRESET)
BENCH   = full-ecdsa-p256 full-rsa-2048 down-1m up-1m idle system-calls two-workers
export PRESET PORT

.PHONY: build run test check bench soak docs install deb clean help

build:  ## build the programs and the library into build/release
	@scripts/setup run
	@scripts/build $(PRESET) programs

run:  ## build, then serve https://localhost:8443/ from a demo origin (make run PORT=9443)
	@scripts/run

test:  ## build all, and test the programs and the library
	@scripts/setup test
	@scripts/build $(PRESET)
	@scripts/test $(PRESET) -LE 'house|consumer|page|figures'

check:  ## what CI checks beside `make test`: house rules, figures, pages, consumers, other builds
	@scripts/setup check
	@scripts/check

bench: build  ## measure this build against its controls; docs/performance.md explains
	@scripts/build $(PRESET)
	@$(BUILD)/bin/cleat-bench compare --servers cleat,epoll,asio,nginx,hitch $(BENCH:%=--scenario %)

soak: build  ## half an hour of mixed load, faults and floods: does anything grow? (make soak MINUTES=2)
	@scripts/build $(PRESET) perf-origin
	@perf/soak/run.py --minutes $(MINUTES) --binaries $(BUILD)/bin --out build/soak.json

docs:  ## make the library's reference, in build/reference/html (it needs Doxygen)
	@scripts/docs

install: build  ## install into PREFIX (/usr/local)
	@cmake --install $(BUILD) --prefix $(PREFIX)

deb:  ## make Debian packages of the programs and the library, in build/deb
	@scripts/setup deb
	@scripts/deb

clean:  ## remove what was built here; the TLS library's cache stays
	@rm -rf build

help:  ## this list
	@sed -n 's/^\([a-z]*\):.*## /  make \1|/p' Makefile | column -t -s '|'
