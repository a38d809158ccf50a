"use strict";
(() => {
  const root = document.documentElement;
  const pages = [...document.querySelectorAll("main > .page")];
  const links = [...document.querySelectorAll("#contents a")];
  const menu = document.getElementById("menu");
  const baseTitle = document.title;
  let current = null;

  // A page is kept as text until it is shown, so that a report of hundreds opens at once. Without scripts, a browser
  // shows what is in `noscript`; with them, that is text.
  const kept = (page) => page.querySelector(":scope > noscript");

  function fill(page) {
    const later = kept(page);
    if (later === null) return;
    later.outerHTML = later.textContent;
    page.querySelectorAll("pre.command").forEach(addCopyButton);
  }

  function pageOf(name) {
    const target = document.getElementById(name);
    if (target) return target.closest(".page");
    return pages.find((page) => kept(page)?.textContent.includes(`id="${name}"`));
  }

  function openMenu(open) {
    menu.setAttribute("aria-expanded", String(open));
    root.classList.toggle("menu-open", open);
  }

  function show(moveFocus) {
    const name = location.hash.slice(1); // ids are made of letters, digits, dots and hyphens: nothing to decode
    const named = name ? pageOf(name) : null;
    const page = named || (named === null && name && current) || pages[0];
    fill(page);
    const target = name ? document.getElementById(name) : null;
    const changed = page !== current;
    current = page;
    for (const other of pages) other.classList.toggle("current", other === page);
    for (const link of links) {
      if (link.hash === "#" + page.id) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    const heading = page.querySelector("h2");
    document.title = heading.textContent.trim() + " · " + baseTitle;
    openMenu(false);
    if (target && target !== page && page.contains(target)) target.scrollIntoView();
    else if (changed && moveFocus) {
      heading.focus({ preventScroll: true });
      if (page.getBoundingClientRect().top < 0 || target === page) heading.scrollIntoView();
    }
    markScrollable();
  }

  // A formula that is wider than its column is set smaller, as far as it can be read; what is wider still scrolls.
  function fitFormulas() {
    const formulas = [...current.querySelectorAll(".formula > math")];
    for (const math of formulas) math.style.fontSize = "";
    const parts = formulas.map((math) => math.parentElement.clientWidth / math.parentElement.scrollWidth);
    const sizes = formulas.map((math) => parseFloat(getComputedStyle(math).fontSize));
    formulas.forEach((math, i) => {
      if (parts[i] < 1) math.style.fontSize = `${Math.max(0.98 * parts[i], 0.65) * sizes[i]}px`;
    });
  }

  // What scrolls sideways must be reachable by keyboard; what does not should not be a stop on the way.
  function markScrollable() {
    fitFormulas();
    for (const box of current.querySelectorAll(".scroll, .formula, pre")) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  }

  const text = document.getElementById("filter-text");
  const verdict = document.getElementById("filter-verdict");
  const paper = document.getElementById("filter-paper");
  const count = document.getElementById("filter-count");
  const entries = [...document.querySelectorAll("[data-filter]")];

  function filter() {
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const active = words.length > 0 || verdict.value !== "" || paper.value !== "";
    const seen = { LI: 0, TR: 0 };
    for (const entry of entries) {
      const data = entry.dataset;
      const fits =
        words.every((word) => data.text.includes(word)) &&
        (verdict.value === "" || data.verdicts.split("|").includes(verdict.value)) &&
        (paper.value === "" || data.paper === paper.value);
      entry.classList.toggle("out", !fits);
      if (fits) seen[entry.tagName] += 1;
    }
    for (const group of document.querySelectorAll("#contents .group"))
      group.classList.toggle("out", group.querySelector("li:not(.out)") === null);
    count.textContent = active ? `${seen.LI} sections, ${seen.TR} rows of the catalog` : "";
  }

  function addCopyButton(pre) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy the command");
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(pre.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(pre);
        button.textContent = "Selected";
      }
      setTimeout(() => (button.textContent = "Copy"), 2000);
    });
    const box = document.createElement("div");
    box.className = "copyable";
    pre.replaceWith(box);
    box.append(pre, button);
  }

  root.classList.add("js");
  document.querySelectorAll("pre.command").forEach(addCopyButton);
  menu.addEventListener("click", () => openMenu(menu.getAttribute("aria-expanded") !== "true"));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && root.classList.contains("menu-open")) {
      openMenu(false);
      menu.focus();
    }
  });
  document.querySelector(".filter").addEventListener("submit", (event) => event.preventDefault());
  text.addEventListener("input", filter);
  verdict.addEventListener("change", filter);
  paper.addEventListener("change", filter);
  addEventListener("hashchange", () => show(true));
  addEventListener("resize", markScrollable);
  addEventListener("beforeprint", () => pages.forEach(fill));
  filter(); // a browser may bring back what was typed before a reload
  show(false);
})();
