import { expect, test } from "bun:test";
import { tQuantile } from "./student-t.ts";
import { tInterval } from "./t-interval.ts";

function momentsOf(values: number[]) {
  const sum = values.reduce((total, value) => total + value, 0);
  return { count: values.length, sum, sumOfSquares: values.reduce((total, value) => total + value ** 2, 0) };
}

// NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2, column 0.975.
test.each([
  [1, 12.706],
  [4, 2.776],
  [9, 2.262],
  [29, 2.045],
  [100, 1.984],
  [1_000_000, 1.96],
])("the critical value at %d degrees of freedom is that of the tables", (degrees, value) => {
  expect(tQuantile(0.975, degrees)).toBeCloseTo(value, 3);
});

test("the interval of ZARR13.DAT is that of the handbook", () => {
  // NIST/SEMATECH e-Handbook, 1.3.5.2: 195 values, mean 9.261460, standard deviation 0.022789.
  const [count, mean, deviation] = [195, 9.26146, 0.022789];
  const moments = {
    count,
    sum: count * mean,
    sumOfSquares: (count - 1) * deviation ** 2 + count * mean ** 2,
  };
  const interval = tInterval(moments);
  expect(interval?.lower).toBeCloseTo(9.258242, 5);
  expect(interval?.upper).toBeCloseTo(9.264679, 5);
});

test("equal values have an interval of zero width, and one value has none", () => {
  expect(tInterval(momentsOf([0.1, 0.1, 0.1]))).toEqual({
    level: 0.95,
    lower: expect.closeTo(0.1, 7),
    upper: expect.closeTo(0.1, 7),
  });
  expect(tInterval(momentsOf([0.5]))).toBeNull();
  expect(tInterval(momentsOf([]))).toBeNull();
});
