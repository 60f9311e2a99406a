# SPDX-License-Identifier: Apache-2.0
# make install, make uninstall. Paths may have spaces.
DOC := scripts/tprof.1 scripts/tprof-fleet.1 analyzer/tprof-analyze.1 include/tprof/tprof-trace.5 analyzer/tprof-json.5 analyzer/tprof-sql.5 preload/rules/tprof-rules.5

# A line a file: $(1) MODE FILE TARGET.
define each_file
$(1) 755 $(B)/install/tprof '$(DESTDIR)$(bindir)/tprof'
$(1) 755 $(B)/install/tprof-fleet '$(DESTDIR)$(bindir)/tprof-fleet'
$(1) 755 $(B)/bin/tprof-analyze '$(DESTDIR)$(bindir)/tprof-analyze'
$(1) 755 $(B)/lib/libtprof.so '$(DESTDIR)$(libdir)/libtprof.so'
$(1) 644 $(B)/install/tprof.pc '$(DESTDIR)$(libdir)/pkgconfig/tprof.pc'
$(1) 644 include/tprof.h '$(DESTDIR)$(includedir)/tprof.h'
$(foreach name,comm format header snapshot work,$(1) 644 include/tprof/$(name).h '$(DESTDIR)$(includedir)/tprof/$(name).h'
)
$(1) 644 preload/rules/pools.rules '$(DESTDIR)$(datadir)/tprof/pools.rules'
$(1) 644 scripts/tprof.py '$(DESTDIR)$(datadir)/tprof/tprof.py'
$(foreach part,$(FLEET),$(1) 644 scripts/$(part) '$(DESTDIR)$(datadir)/tprof/$(part)'
)
$(foreach page,$(DOC),$(1) 644 $(page) '$(DESTDIR)$(mandir)/man$(subst .,,$(suffix $(page)))/$(notdir $(page))'
)
$(foreach program,tprof tprof-analyze tprof-fleet,$(1) 644 scripts/completion/tprof.bash '$(DESTDIR)$(datadir)/bash-completion/completions/$(program)'
$(1) 644 scripts/completion/tprof.fish '$(DESTDIR)$(datadir)/fish/vendor_completions.d/$(program).fish'
)
$(1) 644 scripts/completion/_tprof '$(DESTDIR)$(datadir)/zsh/site-functions/_tprof'
endef

# The launcher looks beside itself, so that the whole can be moved, unless its parts are to lie elsewhere.
is = $(if $(subst x$(1),,x$(2))$(subst x$(2),,x$(1)),,yes)
here = $(if $(and $(call is,$(bindir),$(prefix)/bin),$(call is,$(1),$(prefix)/$(2))),../$(2),$(1))
$(B)/install/tprof: $(B)/bin/tprof FORCE
	@mkdir -p $(@D)
	$(Q)sed -e "s|^libdir=.*|libdir='$(call here,$(libdir),lib)'|" -e "s|^datadir=.*|datadir='$(call here,$(datadir),share)'|" $< >$@
$(B)/install/tprof-fleet: $(B)/bin/tprof-fleet FORCE
	@mkdir -p $(@D)
	$(Q)sed -e "s|^DATADIR = .*|DATADIR = '$(call here,$(datadir),share)'|" $< >$@
$(B)/install/tprof.pc: FORCE
	@mkdir -p $(@D)
	$(Q)printf '%s\n' 'prefix=$(prefix)' 'includedir=$(includedir)' 'libdir=$(libdir)' 'preload=$(libdir)/libtprof.so' '' 'Name: tprof' \
		'Description: annotations for programs that tprof profiles, and its trace format; nothing is linked' \
		'Version: $(VERSION)' 'Cflags: -I"$${includedir}"' >$@

.PHONY: install uninstall
install: all $(B)/install/tprof $(B)/install/tprof-fleet $(B)/install/tprof.pc
	$(call each_file,$(Q)put() { $(if $(V),,echo "  INSTALL $$3";) install -D -m "$$1" "$$2" "$$3"; }; put)
uninstall:
	$(call each_file,$(Q)remove() { rm -f "$$3"; }; remove)
