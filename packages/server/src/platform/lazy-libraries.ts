// Libraries that take megabytes each and that most servers never use: the first who needs one loads it.

/** JSON Schema, 9 MB. */
export function ajvLibrary() {
  const { Ajv }: typeof import("ajv") = require("ajv");
  const { Ajv2020 }: typeof import("ajv/dist/2020.js") = require("ajv/dist/2020.js");
  const addFormats: typeof import("ajv-formats") = require("ajv-formats");
  return { Ajv, Ajv2020, addFormats: addFormats.default };
}

/** The rules of all countries' phone numbers, 8 MB. */
export function phoneLibrary(): typeof import("libphonenumber-js/max") {
  return require("libphonenumber-js/max");
}

/** Patterns in linear time, 3 MB. */
export function patternLibrary(): typeof import("re2js") {
  return require("re2js");
}

/** Distributions, 10 MB in memory. */
export function distributionsLibrary(): typeof import("cephes") {
  return require("cephes");
}
