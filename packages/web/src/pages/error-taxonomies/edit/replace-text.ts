/** Changes what is in a text field as if it had been typed: it can be undone, and whoever listens hears of it. */
export function replaceText(area: HTMLTextAreaElement, text: string): void {
  const { value } = area;
  if (text === value) return;
  let from = 0;
  while (from < text.length && text[from] === value[from]) from += 1;
  let behind = 0;
  const most = Math.min(text.length, value.length) - from;
  while (behind < most && text.at(-1 - behind) === value.at(-1 - behind)) behind += 1;
  const inserted = text.slice(from, text.length - behind);
  area.focus();
  area.setSelectionRange(from, value.length - behind);
  // Old, but nothing else keeps the browser's own undo.
  if (inserted === "") document.execCommand("delete");
  else document.execCommand("insertText", false, inserted);
}
