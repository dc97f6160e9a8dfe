export interface FoundNumber {
  value: number;
  /** Its position in the text, in UTF-16 units. */
  start: number;
  end: number;
}

const notGlued = String.raw`(?<![\p{L}\p{N}_)\]−-])`;
// Sign, point, digits joined by points and commas, exponent. What they mean is decided afterwards, so that the
// pattern takes linear time on any text.
const chain = new RegExp(
  String.raw`(?<sign>${notGlued}[-+−])?(?<point>(?<![\p{L}\p{N}_)\]])\.)?(?<digits>\d+(?:[.,]\d+)*)(?<exponent>[eE][-+−]?\d+(?![\p{L}\p{N}]))?`,
  "gu",
);
const withThousands = /^[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?$/;

/**
 * The numbers of a text, from left to right. Digits are ASCII; the point is the decimal mark; a comma separates
 * thousands where every group after it has three digits (`1,234.5`), and numbers elsewhere (`1,23` is 1 and 23, but `100,200` is one number).
 * More than one point makes integers (`3.14.15` is 3, 14 and 15). `-`, `+` and `−` are signs unless they follow a
 * letter, a digit or a closing bracket, so that a date, a range and a name like `item-3` have no negative parts.
 * A percent sign or a unit is ignored: `12%` is 12.
 */
export function readNumbers(text: string): IteratorObject<FoundNumber> {
  // Lazily: all of them at once take a hundred times the memory of the text.
  return text.matchAll(chain).flatMap(({ index, groups = {} }) => {
    const { sign = "", point = "", digits = "", exponent = "" } = groups;
    const pieces = splitChain(digits);
    let start = index + sign.length + point.length;
    return pieces.map((piece, which) => {
      const isFirst = which === 0;
      const isLast = which === pieces.length - 1;
      const before = isFirst ? sign + (piece.includes(".") ? "" : point) : "";
      const after = isLast ? exponent : "";
      const found = {
        value: toNumber(before + piece + after),
        start: isFirst ? index : start,
        end: start + piece.length + after.length,
      };
      start += piece.length + 1;
      return found;
    });
  });
}

function splitChain(digits: string): string[] {
  if (withThousands.test(digits)) return [digits];
  return digits.split(",").flatMap((piece) => {
    const parts = piece.split(".");
    return parts.length > 2 ? parts : [piece];
  });
}

function toNumber(written: string): number {
  return Number(written.replaceAll(",", "").replaceAll("−", "-"));
}
