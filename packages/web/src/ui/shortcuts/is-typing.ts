const takers =
  "textarea, select, [contenteditable=true], [role=textbox], [role=menu], [role=listbox], [role=combobox]";
const silentInputs = new Set(["button", "checkbox", "radio", "range", "submit"]);

/** Whether keys pressed there mean something already, so that no shortcut may take them. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  if (target instanceof HTMLInputElement) return !silentInputs.has(target.type);
  return target.closest(takers) !== null;
}
