"use strict";
(() => {
  const root = document.documentElement;
  const canUnpack = typeof DecompressionStream === "function";

  const remembered = (value) => {
    try {
      if (value !== undefined) localStorage.setItem("gangline-theme", value);
      return localStorage.getItem("gangline-theme");
    } catch {
      return null; // pages opened from a file may have no storage
    }
  };
  const isDark = () =>
    root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const theme = remembered();
  if (theme === "dark" || theme === "light") root.dataset.theme = theme;

  const unpacked = async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  };

  let library = null;
  const chartLibrary = () => {
    library ??= unpacked(document.getElementById("chart-library").textContent.trim()).then((source) => {
      const script = document.createElement("script");
      script.textContent = source;
      document.head.append(script);
      return window.vegaEmbed;
    });
    return library;
  };

  const drawnSpecification = (text) => {
    const specification = JSON.parse(text);
    specification.padding = 4;
    if (isDark()) {
      const colours = { labelColor: "#cbd5e1", titleColor: "#cbd5e1" };
      const config = (specification.config ??= {});
      for (const part of ["axis", "legend", "header"]) config[part] = { ...config[part], ...colours };
      config.axis = { ...config.axis, gridColor: "#2b3648", domainColor: "#566377", tickColor: "#566377" };
      config.text = { ...config.text, color: "#cbd5e1" };
      config.title = { ...config.title, color: "#e6ebf3" };
    }
    return specification;
  };

  // Vega names its menu by a picture alone, and gives groups of marks a role without a name.
  const named = (place, title) => {
    place.querySelector("summary")?.setAttribute("aria-label", "Save the picture");
    for (const marks of place.querySelectorAll('[role^="graphics-"]:not([aria-label])')) marks.removeAttribute("role");
    const drawn = place.querySelector("svg.marks");
    drawn.setAttribute("role", "group");
    drawn.setAttribute("aria-label", title);
  };

  const show = async (button) => {
    const plot = button.closest("figure").querySelector(".plot");
    const picture = plot.querySelector("img");
    if (picture.hidden) {
      plot.querySelector(".live").remove();
      picture.hidden = false;
      button.textContent = "Interactive";
      return;
    }
    button.disabled = true;
    try {
      const place = document.createElement("div");
      place.className = "live";
      const [embed, text] = await Promise.all([chartLibrary(), unpacked(button.dataset.chart)]);
      const actions = { export: true, source: false, compiled: false, editor: false };
      plot.append(place);
      await embed(place, drawnSpecification(text), { renderer: "svg", ast: true, logLevel: 1, actions });
      named(place, picture.alt);
      picture.hidden = true;
      button.textContent = "Picture";
    } finally {
      button.disabled = false;
    }
  };

  const save = async (link) => {
    const text = await unpacked(link.href.slice(link.href.indexOf(",") + 1));
    const plain = document.createElement("a");
    plain.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    plain.download = link.download.replace(/\.gz$/, "");
    plain.click();
    setTimeout(() => URL.revokeObjectURL(plain.href), 60000);
  };

  const follow = () => {
    const links = new Map([...document.querySelectorAll(".toc a")].map((link) => [link.hash.slice(1), link]));
    const heads = [...document.querySelectorAll("main h2[id]")];
    if (!links.size || !("IntersectionObserver" in window)) return;
    const mark = () => {
      const passed = heads.filter((head) => head.getBoundingClientRect().top < innerHeight / 3);
      const current = passed.length ? passed[passed.length - 1].id : null;
      for (const [id, link] of links) {
        if (id === current) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      }
    };
    addEventListener("scroll", mark, { passive: true });
    mark();
  };

  document.addEventListener("click", (event) => {
    const target = event.target.closest("button, a");
    if (!target) return;
    if (target.classList.contains("theme")) remembered((root.dataset.theme = isDark() ? "light" : "dark"));
    else if (target.classList.contains("interactive")) show(target);
    else if (target.hasAttribute("data-packed") && canUnpack) {
      event.preventDefault();
      save(target);
    }
  });
  for (const button of document.querySelectorAll("button.theme")) button.hidden = false;
  if (canUnpack) for (const button of document.querySelectorAll("button.interactive")) button.hidden = false;
  follow();
})();
