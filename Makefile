# Three commands for users: make verify, make test, make fuzz. They set everything up in .venv.
# While working: make test-fast, which leaves out what tests/costs.csv calls slow, and make check.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OUT ?= build/verify
PROFILE ?= quick
FUZZ ?= 20000

.PHONY: verify rocq nightly test test-thorough test-fast answers thresholds costs fuzz fuzz-1 fuzz-2 mutations mutants hypotheses textbook check bench bench-audit bench-white-box bench-one-run bench-neighbors null-audits dpriv-bench mechanisms scaling large device real-size utility noise-table accountants division campaign campaign-quick libraries test-libraries pages pictures docs faults dist release lock clean
.DELETE_ON_ERROR:

verify: $(VENV)/installed
	$(BIN)/dpverify verify --profile $(PROFILE) --out $(OUT)

# what the last make verify confirmed, and the textbook, given to the kernel of Rocq (Coq), and faults planted: docs/rocq.md
rocq: $(VENV)/installed
	test -f $(OUT)/ledger.json || $(MAKE) verify
	$(BIN)/python tests/benchmarks/rocq_figures.py $(OUT) docs/rocq.md --coverage conclusion
	$(BIN)/python tests/benchmarks/rocq_figures.py textbook docs/rocq.md --coverage conclusion

# Tests start many processes: without kept bytecode, each would compile the program anew.
test test-thorough test-fast: export PYTHONDONTWRITEBYTECODE :=

# files in the order of tests/costs.py, by what they cost; pytest-xdist's own is by their numbers of tests. One process
# more than cores, up to four: some tests wait for processes that they start
PROCESSES = $(shell $(BIN)/python -c 'import os; print(min(4, 1 + (os.cpu_count() or 1)))')
SIDE_BY_SIDE = -n $(PROCESSES) --dist loadfile --no-loadscope-reorder

test: $(VENV)/installed-test
	$(BIN)/pytest $(SIDE_BY_SIDE)

# make test takes a part of long lists of cases (pytest.mark.one_in and the fixture thorough), the same one each time, and
# proves a sample of what the checker confirms of kept answers (tests/kept_proofs.py)
test-thorough: $(VENV)/installed-test
	DPVERIFY_THOROUGH=1 $(BIN)/pytest $(SIDE_BY_SIDE)

test-fast: $(VENV)/installed-test
	$(BIN)/pytest $(SIDE_BY_SIDE) -m "not slow"

# what provers answer to the formulas of the committed pages, and the verdicts, beside the program, after a page has
# changed; with ANEW=1 all is proved from nothing
answers: $(VENV)/installed-test
	PYTHONPATH=. $(BIN)/python tests/benchmarks/answers.py $(if $(ANEW),--anew)
	$(BIN)/python -m dpverify.verification.remembering.shipped

# how far formulas of committed pages hold that do not hold as they stand; ANEW=1 finds all again
thresholds: $(VENV)/installed-test
	PYTHONPATH=. $(BIN)/python tests/benchmarks/thresholds.py $(if $(ANEW),--anew)

# what each test costs, alone on the machine, into tests/costs.csv; FILES="tests/a.py tests/b.py" measures these only
costs: $(VENV)/installed-test
	DPVERIFY_COSTS=tests/costs.csv $(BIN)/pytest -n 0 $(FILES)

# random formulas and random accounting, far more than in make test, over two processes; a line each part. FUZZ is the
# number of formulas, and of inputs for each law of accounting; where one input takes long, a share of it: @fuzz(share)
# in tests/fuzz/test_accountants.py, from a half down to a two-hundredth
fuzz: $(VENV)/installed-test
	+$(MAKE) --no-print-directory --keep-going -j2 fuzz-1 fuzz-2

fuzz-1 fuzz-2:
	DPVERIFY_FUZZ_EXAMPLES=$(FUZZ) DPVERIFY_FUZZ_PART=$(@:fuzz-%=%)/2 $(BIN)/pytest tests/fuzz -v

# three faults planted in every encoded formula; lists those that are proved all the same
mutations: $(VENV)/installed-test
	DPVERIFY_MUTATIONS=3 $(BIN)/pytest tests/statements/test_mutations.py -s

# random mutants of the program's own code against its tests; survivors are listed. MUTANTS of each room
MUTANTS ?= 12
mutants: $(VENV)/installed-test
	$(BIN)/python tests/benchmarks/mutants.py --each $(MUTANTS)

# all that is too long for each push, one after another, for hours: build/nightly/index.md says what became of each, and
# docs pages that these jobs make are made anew. JOBS="fuzz rocq" takes these only
nightly: $(VENV)/installed-test
	+$(BIN)/python tests/benchmarks/nightly.py --make $(MAKE) $(JOBS)

# each proved formula tried again without each of its hypotheses, and conditions that can hold at once: the page about it
hypotheses: $(VENV)/installed
	mkdir -p build/pages
	$(BIN)/dpverify hypotheses --markdown > build/pages/hypotheses.part
	mv build/pages/hypotheses.part build/pages/hypotheses.md

# what is found of the textbook's pages: counts, and what stays undecided. What was found before is shown
textbook: $(VENV)/installed-test
	$(BIN)/python tests/benchmarks/textbook.py

# a release: what is found of each statement is written beside the program first, so that dpverify list shows it at once.
# URL is the address at which the sources are published: with it, address and date are written where a release needs them
URL ?=
dist: $(VENV)/installed-test
	rm -rf dist
	$(BIN)/python -m dpverify.verification.remembering.shipped
	PYTHONPATH=. $(BIN)/python tests/benchmarks/release.py pack dist "$(URL)"

# the release: packed, checked, tried in a new environment as the README begins; what is left to a person is listed
RELEASE := build/release-tools
release: dist
	test -x $(RELEASE)/bin/twine || { $(PYTHON) -m venv $(RELEASE) && $(RELEASE)/bin/pip install --quiet 'twine>=6'; }
	$(RELEASE)/bin/twine check --strict dist/*
	PYTHONPATH=. $(BIN)/python tests/benchmarks/release.py try dist

check: $(VENV)/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy -p dpverify
	PYTHONPATH=. $(BIN)/lint-imports

bench: $(VENV)/installed-test
	$(BIN)/python tests/benchmarks/noisy_sgd_throughput.py

# how much of the true epsilon a black-box audit finds, beside the ceiling of one threshold; and what the command costs on files
bench-audit: $(VENV)/installed-test
	$(BIN)/python tests/benchmarks/audit_power.py

# how much of it a white-box audit finds
bench-white-box: $(VENV)/installed-test
	$(BIN)/python tests/benchmarks/white_box_power.py

# how much of it an audit of one training run finds, beside the procedures of two papers
bench-one-run: $(VENV)/installed-test
	$(BIN)/python tests/benchmarks/one_run_power.py

# How many faults the search for neighbors finds from a plain example.
bench-neighbors: $(VENV)/installed-test
	$(BIN)/python tests/benchmarks/neighbor_bugs.py

# true claims, thousands of times: how often they are called violated, with an exact interval for each row
AUDITS ?= 10000
null-audits: $(VENV)/installed-test
	$(BIN)/python tests/benchmarks/null_audits.py --audits $(AUDITS)

# accountants in use beside our enclosure, of the libraries that are installed beside dpverify; takes some 10 minutes
ACCOUNTANTS ?= $(BIN)/python
accountants: $(VENV)/installed-test
	$(ACCOUNTANTS) tests/benchmarks/accountants.py --output docs/accountants.md

# a public list of questions about mechanisms, each decided by its page; takes some 20 minutes
dpriv-bench: $(VENV)/installed-test
	$(BIN)/python tests/benchmarks/dpriv_bench/score.py docs/dpriv-bench.md

# the gallery of mechanisms, each proved, and with planted faults, each refuted; takes some 3 minutes
mechanisms: $(VENV)/installed-test
	$(BIN)/python tests/benchmarks/mechanisms/gallery.py docs/mechanism-gallery.md

# division by the actual size of a batch beside what is accounted for; takes some 2 minutes
division: $(VENV)/installed-test
	$(BIN)/python tests/benchmarks/batch_division.py docs/batch-division.md

scaling: $(VENV)/installed-test
	$(BIN)/python tests/benchmarks/scaling.py --output docs/scaling.md

# noisy SGD through JAX (extra `device`) beside NumPy on one core; takes some 3 minutes
device: $(VENV)/installed-test
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[device]'
	$(BIN)/python tests/benchmarks/device.py --output docs/device.md

# data on disk (13 GB in TMPDIR), a cluster that loses a worker, tails rarer than runs; takes some 6 minutes
large: $(VENV)/installed-test
	$(BIN)/python tests/benchmarks/large.py --output docs/large.md

# each algorithm once on data sets of the size that people have; takes some 20 minutes
real-size: $(VENV)/installed-test
	$(BIN)/python tests/benchmarks/real_size.py --output docs/real-size.md

# how good private models are, beside libraries that are installed with dpverify (UTILITY is the Python that has them); takes
# some 5 minutes. SIZE=small takes one, SIZE=large hours
SIZE ?= page
UTILITY ?= $(BIN)/python
utility: $(VENV)/installed-test
	$(UTILITY) tests/benchmarks/utility.py --size $(SIZE) --output docs/utility.md

# what pages take from the program; findings and the papers' verdicts are those of the last make verify
pages: $(VENV)/installed
	$(BIN)/python tests/benchmarks/errata_page.py docs/algorithms.md
	$(BIN)/python tests/benchmarks/pages.py algorithms docs/algorithms.md
	$(BIN)/python tests/benchmarks/pages.py constants docs/constants.md
	$(BIN)/python tests/benchmarks/batches.py docs/how-to/fit.md
	$(BIN)/python tests/benchmarks/pages.py counts README.md $(OUT)/ledger.json
	$(BIN)/python tests/benchmarks/pages.py letters docs/letters $(OUT)/ledger.json

# pictures of README and gallery, with a screen of the last make verify's report; screens need chromium. PICTURES is a Python
# with dpverify and diffprivlib, for the library's picture
PICTURES ?= $(BIN)/python
pictures: $(VENV)/installed-test
	test -f $(OUT)/report.html || $(MAKE) verify
	PYTHONPATH=. $(PICTURES) tests/benchmarks/pictures.py $(OUT)/ledger.json

# the site of docs/, into build/site; pages are read from the docstrings of the installed package
docs: $(VENV)/installed-docs
	test -f $(OUT)/ledger.json || $(MAKE) verify
	$(BIN)/python tests/benchmarks/pages.py site build/pages $(OUT)/ledger.json
	test -f build/pages/hypotheses.md || $(MAKE) hypotheses
	cp docs/site/mkdocs.yml build/mkdocs.yml
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --config-file build/mkdocs.yml

# commands killed at random moments, full disks, hostile subjects, into docs/faults.md; KILLS of each command
KILLS ?= 50
faults: $(VENV)/installed-test
	$(BIN)/python tests/benchmarks/faults.py --kills $(KILLS) --output docs/faults.md

# other libraries, in an environment of their own: one of them needs an older scikit-learn. On Linux,
# TORCH="--extra-index-url https://download.pytorch.org/whl/cpu" saves gigabytes of a graphics card's libraries
LIBRARIES := .venv-libraries
CAMPAIGN := docs/examples/campaign

$(LIBRARIES)/installed: $(CAMPAIGN)/requirements.txt pyproject.toml
	test -x $(LIBRARIES)/bin/python || $(PYTHON) -m venv $(LIBRARIES)
	$(LIBRARIES)/bin/pip install --quiet --disable-pip-version-check $(TORCH) -r $(CAMPAIGN)/requirements.txt \
	    -e '.[all,device,frames,jax-privacy]' pytest-xdist
	touch $@

# their claims, audited; ledger and report into build/campaign
campaign campaign-quick: $(LIBRARIES)/installed
	cd $(CAMPAIGN) && $(CURDIR)/$(LIBRARIES)/bin/python run.py $(CURDIR)/build/$@ $(if $(filter %-quick,$@),--quick)
	$(LIBRARIES)/bin/dpverify report build/$@/ledger.json

# the page on what was found in them, from the last make campaign
libraries: $(LIBRARIES)/installed
	cd $(CAMPAIGN) && $(CURDIR)/$(LIBRARIES)/bin/python page.py $(CURDIR)/build/campaign/ledger.json $(CURDIR)/docs/libraries.md

# noise of NumPy, Python, PyTorch, JAX, diffprivlib, OpenDP and PyDP, measured with the Python that has them
noise-table: $(LIBRARIES)/installed
	PYTHONPATH=. $(LIBRARIES)/bin/python -W ignore tests/benchmarks/noise_table.py --output docs/noise-generators.md

# the tests that need them
test-libraries: export PYTHONDONTWRITEBYTECODE :=
test-libraries: $(LIBRARIES)/installed
	$(LIBRARIES)/bin/pytest -n 2 tests/training tests/packaging/test_gallery.py tests/verification/test_library_campaign.py tests/algorithms/test_torch.py tests/algorithms/test_on_device.py \
	    tests/problems/tables tests/auditing/requests/test_tables.py tests/auditing/neighbors/test_table_pairs.py

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: requirements.lock pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

$(VENV)/installed-test: $(VENV)/installed requirements-dev.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	touch $@

$(VENV)/installed-docs: $(VENV)/installed-test docs/requirements.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -r docs/requirements.txt
	touch $@

# needs uv; resolves for every Python from 3.11 up and every platform
lock:
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	    --extra all --group setup pyproject.toml -o requirements.lock
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	    --extra all --group setup --group test --group check pyproject.toml -o requirements-dev.lock

clean:
	rm -rf build dist $(VENV) $(LIBRARIES) *.egg-info
