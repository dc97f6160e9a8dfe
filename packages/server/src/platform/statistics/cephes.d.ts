/** The part of cephes used here. It has types, but its package.json does not say where. */
declare module "cephes" {
  /** The regularised incomplete beta integral from 0 to x. */
  export function incbet(a: number, b: number, x: number): number;
  /** The x for which the regularised incomplete beta integral from 0 to x is `y`. */
  export function incbi(a: number, b: number, y: number): number;
}
