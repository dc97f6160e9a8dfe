/** For what is read: focusing its first element would show that one's explanation. */
export function focusWhole(event: Event): void {
  event.preventDefault();
  if (event.currentTarget instanceof HTMLElement) event.currentTarget.focus();
}
