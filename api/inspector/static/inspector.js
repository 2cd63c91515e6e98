// The pages work without this. It unfolds summaries and documents in place, and puts the cursor into a search by "/".

/** Fetch the part that a <details> names, once, when it is opened. */
async function unfold(details) {
  const place = details.querySelector(":scope > .below");
  if (!details.open || !place || place.dataset.state) return;
  place.dataset.state = "asked";
  place.textContent = "…";
  try {
    const answer = await fetch(details.dataset.part, { headers: { "X-Part": "1" }, credentials: "same-origin" });
    // The server has escaped every text; scripts in what is put in this way do not run, and the policy allows none.
    place.innerHTML = await answer.text();
    if (!answer.ok) delete place.dataset.state;
  } catch {
    place.textContent = "The service does not answer. Close this and open it again.";
    delete place.dataset.state;
  }
}

document.addEventListener("toggle", (event) => {
  if (event.target.matches?.("details[data-part]")) unfold(event.target);
}, true);

document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches?.("input, textarea, select")) return;
  const field = document.querySelector("[data-search]");
  if (field) { event.preventDefault(); field.focus(); }
});

// A link to a summary on the timeline opens it.
function open_target() {
  const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  if (target instanceof HTMLDetailsElement) { target.open = true; target.querySelector("summary")?.focus(); }
}
addEventListener("hashchange", open_target);
open_target();
