/** The index to cut a text at, at or just before `index`, so that no surrogate pair is split. */
export function cutBefore(text: string, index: number): number {
  const isInside =
    (text.charCodeAt(index) & 0xfc00) === 0xdc00 && (text.charCodeAt(index - 1) & 0xfc00) === 0xd800;
  return isInside ? index - 1 : index;
}
