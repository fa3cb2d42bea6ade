// What pages do beyond links and forms: a slider through a search's steps, and no second press of a button.

const wait = new Map();

/** A slider in place of the links to a search's steps; the server draws each step. */
function addSlider(marks) {
  const links = [...marks.querySelectorAll("a")];
  if (links.length < 2 || document.querySelector("#slider")) return;
  const slider = document.createElement("input");
  slider.type = "range";
  slider.id = "slider";
  slider.min = "0";
  slider.max = String(links.length - 1);
  slider.value = String(Math.max(0, links.findIndex((link) => link.hasAttribute("aria-current"))));
  slider.setAttribute("aria-label", "Step of the search");
  document.querySelector("#step").before(slider);
  slider.addEventListener("input", () => {
    const link = links[Number(slider.value)];
    slider.setAttribute("aria-valuetext", `${link.textContent} simulations`);
    show(link.href);
  });
}

/** Put the step of an address in place of the one that is shown; an answer that comes late is dropped. */
async function show(address) {
  const number = (wait.get("step") ?? 0) + 1;
  wait.set("step", number);
  const answer = await fetch(address, { headers: { accept: "text/html" } });
  if (!answer.ok || wait.get("step") !== number) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const step = page.querySelector("#step");
  if (step && wait.get("step") === number) {
    document.querySelector("#step").replaceWith(step);
    history.replaceState(null, "", address);
  }
}

const marks = document.querySelector("[data-slider]");
if (marks) addSlider(marks);

for (const form of document.querySelectorAll("form[method=post]")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
    document.body.classList.add("thinking");
  });
}
// A page that comes back from the browser's store can be used again.
window.addEventListener("pageshow", () => {
  document.body.classList.remove("thinking");
  for (const form of document.forms) delete form.dataset.sent;
});
