// The data of the page. Numbers of nodes are places in a package's nodes.
const data = JSON.parse(document.getElementById("data").textContent);

const EDGES = { 1: "replaces", 2: "skips", 3: "skipRange" };

// natural orders names as people read them: stable-3.6 before stable-3.10.
const natural = new Intl.Collator("en", { numeric: true });

for (const [i, c] of data.catalogs.entries()) {
  c.byName = new Map();
  for (const p of c.packages) {
    p.catalog = c;
    p.catalogAt = i;
    p.channels.sort((a, b) => natural.compare(a.name, b.name));
    p.haystacks = [[p.name], [p.title, p.provider, ...(p.keywords || [])], p.apis || [], [p.summary, p.about, ...p.nodes.flatMap((n) => [n.title, n.summary])]]
      .map((list) => list.filter(Boolean).map((x) => ({ text: x, low: x.toLowerCase() })));
    p.impact = new Map((p.verdicts || []).map((v) => [v.from + " " + v.to, v]));
    c.byName.set(p.name, p);
  }
}

// differs marks a package of the first catalog that is new, or not as it was in
// the older one.
const changed = new Set(data.diff ? data.diff.packages.map((p) => p.name) : []);
const added = new Set((data.diff && data.diff.packagesAdded) || []);
const differs = (p) => (p.catalogAt !== 0 ? null : added.has(p.name) ? tag("new") : changed.has(p.name) ? tag("changed") : null);

const titles = new Map((data.codes || []).map((c) => [c.code, c.title]));

// findPackage returns a package by the names of its catalog and itself.
const findPackage = (catalog, name) => {
  const c = data.catalogs.find((x) => x.name === catalog) || (data.catalogs.length === 1 ? data.catalogs[0] : null);
  return (c && c.byName.get(name)) || null;
};

// hasInstalled reports whether any node of a package is installed.
const hasInstalled = (p) => p.nodes.some((n) => (n.marks || []).includes("installed"));

// channelOf returns a channel by name, the default channel, or the first one.
const channelOf = (p, name) => p.channels.find((c) => c.name === name) || p.channels.find((c) => c.name === p.default) || p.channels[0] || null;

// marksOf returns the marks of a node in a
// channel, the most important first.
const marksOf = (p, ch, i) => {
  const own = p.nodes[i].marks || [];
  const out = [];
  if (ch.heads.includes(i)) out.push("head");
  if (own.includes("installed")) out.push("installed");
  if ((ch.skipped || []).includes(i)) out.push("skipped");
  for (const m of own) if (!out.includes(m)) out.push(m);
  const classic = (ch.strandedClassic || []).includes(i), v1 = (ch.strandedV1 || []).includes(i);
  if (classic && v1) out.push("stranded");
  else if (classic) out.push("stranded in classic OLM");
  else if (v1) out.push("stranded in OLM v1");
  return out;
};

// verdictOf returns what an upgrade in OLM v1 does to a cluster, or null if that was not judged.
const verdictOf = (p, from, to) => p.impact.get(from + " " + to) || null;

// verdictTag shows it; the codes follow what is not safe.
const verdictTag = (p, from, to) => {
  const v = verdictOf(p, from, to);
  if (!v) return null;
  const [word, ...rest] = v.text.split(": ");
  return [" ", tag(word, v.verdict || "aside"), rest.length ? [" ", el("span", { class: "why" }, said(rest.join(": ") + (v.verdict ? " in OLM v1" : "")))] : null];
};

const WORDS = {
  "head": "an entry of the channel that no other entry replaces or skips",
  "installed": "installed in the problem that was given",
  "skipped": "another entry skips it, so that classic OLM never installs it",
  "deprecated": "its author deprecated it",
  "never chosen": "it has the property olm.deprecated, and is never chosen",
  "no content": "only edges mention it: the catalog has no such bundle",
  "new": "the older catalog does not have it",
  "stranded": "no path leads from it to the head, in either reading",
  "stranded in classic OLM": "no path leads from it to the head in classic OLM",
  "stranded in OLM v1": "no path leads from it to the head in OLM v1",
};
const mark = (word) => set(tag(word), { title: WORDS[word] });
