/** Sizes and times for a person's eyes, the sizes as `tensix._support.format_size` writes them. */

function formatSize(bytes) {
  if (Math.abs(bytes) <= 1024) return `${bytes} bytes`;
  const exponent = Math.abs(bytes) >= 1024 ** 3 ? 3 : Math.abs(bytes) >= 1024 ** 2 ? 2 : 1;
  return `${(bytes / 1024 ** exponent).toFixed(2)} ${["KiB", "MiB", "GiB"][exponent - 1]}`;
}

const UNITS_OF_TIME = [["ns", 1], ["µs", 1e3], ["ms", 1e6], ["s", 1e9]];

/** Three digits and a unit; minutes are left to the reader, hours are not. */
function formatTime(nanoseconds) {
  if (nanoseconds >= 3.6e12) {
    const minutes = Math.round(nanoseconds / 6e10);
    return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  }
  const [unit, size] = UNITS_OF_TIME.find(([name, size]) => name === "s" || nanoseconds < 999.5 * size);
  const value = nanoseconds / size;
  const digits = unit === "ns" || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return `${value.toFixed(digits)} ${unit}`;
}

function formatCount(number) {
  return number.toLocaleString("en");
}

function plural(number, word) {
  return `${formatCount(number)} ${word}${number === 1 ? "" : "s"}`;
}

/** Make an element; strings among the children become text, never markup: names of files come from outside. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}
