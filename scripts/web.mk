# SPDX-License-Identifier: Apache-2.0
# The script and the style of the HTML report. They are built from web/ with node and npm, and kept in the tree as they were built
# last (analyzer/report/html/page.js, page.css): nobody needs node to build tprof.
#   make web        builds and tests them; plain `make` rebuilds them where `make web` has fetched the tools
#   make check-web  proves that the sources give the files in the tree
PAGE := analyzer/report/html/page.js analyzer/report/html/page.css
WEB_SRC := $(sort $(wildcard web/src/*)) web/build.mjs web/package.json web/package-lock.json
WEB_TOOLS := web/node_modules/.package-lock.json

.PHONY: web check-web web-test
web: $(WEB_TOOLS)
	$(MAKE) web-test
	node web/build.mjs analyzer/report/html
check-web: $(WEB_TOOLS)
	$(MAKE) web-test
	@mkdir -p $(BUILD)/web
	node web/build.mjs $(BUILD)/web
	cmp $(BUILD)/web/page.js analyzer/report/html/page.js
	cmp $(BUILD)/web/page.css analyzer/report/html/page.css
web-test: $(WEB_TOOLS)
	web/node_modules/.bin/tsc -p web
	node web/test.mjs $(BUILD)/web-tests

$(WEB_TOOLS): web/package-lock.json
	cd web && npm ci --ignore-scripts --no-audit --no-fund --loglevel error
	touch $@

ifneq ($(wildcard $(WEB_TOOLS)),)
$(PAGE) &: $(WEB_SRC)
	$(call say,NODE ,$(PAGE))
	$(Q)node web/build.mjs analyzer/report/html
	$(Q)touch $(PAGE)
endif
