// What pages do beyond links and forms: a slider through a search's steps, a search that is watched while it grows,
// pictures as PNG, and no second press of a button.

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
  const text = await answer.text();
  if (wait.get("step") === number && place(text)) history.replaceState(null, "", address);
}

/** Put the step that a page or a part of one has in place of the one that is shown. */
function place(text) {
  const step = new DOMParser().parseFromString(text, "text/html").querySelector("#step");
  if (step) {
    addPng(step);
    document.querySelector("#step").replaceWith(step);
  }
  return step;
}

/** A button beside the files of each picture in a part of the page, which saves it as PNG. */
function addPng(part) {
  for (const files of part.querySelectorAll("figure .files")) {
    const svg = files.closest("figure").querySelector("svg");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "PNG";
    button.setAttribute("aria-label", `${files.dataset.heading} as PNG`);
    button.addEventListener("click", () => savePng(svg, `${files.dataset.name}.png`));
    files.append(button);
  }
}

/** Save a picture as it is shown, on white and 1,600 pixels wide, as the file of this name; the browser draws it. */
async function savePng(svg, name) {
  const canvas = document.createElement("canvas");
  canvas.width = 1600;
  canvas.height = Math.ceil((canvas.width * svg.viewBox.baseVal.height) / svg.viewBox.baseVal.width);
  const copy = svg.cloneNode(true);
  for (const side of ["width", "height"]) copy.setAttribute(side, String(canvas[side]));
  copy.setAttribute("color", "#000000");
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }));
  await image.decode();
  const paper = canvas.getContext("2d");
  paper.fillStyle = "#ffffff";
  paper.fillRect(0, 0, canvas.width, canvas.height);
  paper.drawImage(image, 0, 0);
  URL.revokeObjectURL(image.src);
  const link = document.createElement("a");
  link.download = name;
  link.href = canvas.toDataURL("image/png");
  link.click();
}

/** A form that watches a search instead of loading a page of it; a hidden tab watches nothing. */
function addStream(form) {
  const button = form.querySelector("button");
  const said = form.querySelector("[role=status]");
  const name = button.textContent;
  let source = null;
  let wanted = false;

  function stop(words) {
    wanted = false;
    close();
    button.textContent = name;
    said.textContent = words;
  }

  function close() {
    source?.close();
    source = null;
  }

  function open() {
    close();
    source = new EventSource(form.dataset.stream);
    source.addEventListener("step", (event) => place(event.data));
    source.addEventListener("end", (event) => {
      place(event.data);
      stop("The search has ended.");
    });
    source.addEventListener("trouble", (event) => stop(event.data));
    source.addEventListener("error", () => {
      if (source?.readyState === EventSource.CLOSED) stop("This is not possible now: try again in a moment.");
    });
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (wanted) {
      stop("Stopped.");
      return;
    }
    wanted = true;
    wait.set("step", (wait.get("step") ?? 0) + 1);
    document.querySelector("#slider")?.remove();
    button.textContent = "Stop";
    said.textContent = "The search grows.";
    open();
  });
  document.addEventListener("visibilitychange", () => {
    if (!wanted) return;
    if (document.hidden) close();
    else open();
  });
  window.addEventListener("pagehide", close);
}

for (const form of document.querySelectorAll("form[data-stream]")) addStream(form);

addPng(document);

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
