/** The keyboard goes to a row, if it is in the page. */
export function focusResult(id: string): void {
  document.querySelector<HTMLElement>(`a[data-result="${CSS.escape(id)}"]`)?.focus();
}
