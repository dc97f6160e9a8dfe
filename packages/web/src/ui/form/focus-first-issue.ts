/** Leads the reader to the first control of a form that says it is wrong. */
export function focusFirstFault(form: HTMLFormElement | null): void {
  form?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
}
