// Preloaded into a server to shift its clock by PRESAGE_CLOCK_SHIFT_MS.
const shiftMs = Number(process.env.PRESAGE_CLOCK_SHIFT_MS ?? 0);
const RealDate = Date;

function shiftedNow(): number {
  return RealDate.now() + shiftMs;
}

globalThis.Date = new Proxy(RealDate, {
  construct: (target, given) =>
    given.length === 0 ? new target(shiftedNow()) : Reflect.construct(target, given),
  get: (target, name) => (name === "now" ? shiftedNow : Reflect.get(target, name)),
});

// The database's clock sets the time of results, and the server would refuse to start if its own clock differed.
Bun.plugin({
  name: "shift the database's clock and skip its check",
  setup(build) {
    build.onLoad({ filter: /\/storage\/clock\.ts$/ }, async ({ path }) => {
      const source = await Bun.file(path).text();
      const shifted = `(clock_timestamp() + interval '${shiftMs} milliseconds')`;
      const contents = source
        .replace("clock_timestamp()", shifted)
        .replace("return skew > ", "return false && skew > ");
      return { loader: "ts", contents };
    });
  },
});
