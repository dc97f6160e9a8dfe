export interface Chat {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}
