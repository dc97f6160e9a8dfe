import { generateKeyPairSync, sign } from "node:crypto";

const tags = { integer: 0x02, bits: 0x03, oid: 0x06, text: 0x0c, time: 0x17, sequence: 0x30, set: 0x31 };
const ecdsaWithSha256 = Buffer.from("2a8648ce3d040302", "hex");
const commonName = Buffer.from("550403", "hex");
const dayMs = 86_400_000;

/** A key and its self-signed certificate for localhost, valid for one day. */
export function selfSignedCertificate(): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = der(tags.sequence, der(tags.oid, ecdsaWithSha256));
  const attribute = der(tags.sequence, der(tags.oid, commonName), der(tags.text, Buffer.from("localhost")));
  const name = der(tags.sequence, der(tags.set, attribute));
  const nowMs = Date.now();
  const toBeSigned = der(
    tags.sequence,
    der(tags.integer, Buffer.from([1])),
    algorithm,
    name,
    der(tags.sequence, time(nowMs - dayMs), time(nowMs + dayMs)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
  );
  const signature = der(tags.bits, Buffer.from([0]), sign("sha256", toBeSigned, privateKey));
  const certificate = der(tags.sequence, toBeSigned, algorithm, signature).toString("base64");
  return {
    key: String(privateKey.export({ type: "pkcs8", format: "pem" })),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.replace(/.{64}/g, "$&\n")}\n-----END CERTIFICATE-----\n`,
  };
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const lengthBytes =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...lengthBytes]), content]);
}

function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/\D/g, "");
  return der(tags.time, Buffer.from(`${digits.slice(2, 14)}Z`));
}
