/** Where to cut a text at or just before a place, so that no character is cut in two. */
export function cutBefore(text: string, place: number): number {
  const isInside =
    (text.charCodeAt(place) & 0xfc00) === 0xdc00 && (text.charCodeAt(place - 1) & 0xfc00) === 0xd800;
  return isInside ? place - 1 : place;
}
