import { describe, expect, test } from "bun:test";
import {
  type PresageWithProvider,
  startPresageWithProvider,
} from "../support/presage/presage-with-provider.ts";
import { openBrowser } from "../support/sign-in/browser.ts";
import { expectFailurePage } from "../support/sign-in/expect-failure-page.ts";
import type { Person } from "../support/sign-in/openid-provider.ts";
import { signInAtProvider } from "../support/sign-in/sign-in-at-provider.ts";
import { onAnyDatabase } from "../support/store/databases.ts";

async function signInAs({ presage, provider }: PresageWithProvider, person: Person): Promise<Response> {
  provider.people.set("ada", person);
  return (await signInAtProvider(openBrowser(), presage.url, "/v1/whoami")).response;
}

async function accountOf(response: Response): Promise<string> {
  expect(response.status).toBe(200);
  const { caller } = (await response.json()) as { caller: { session: { account: { name: string } } } };
  return caller.session.account.name;
}

onAnyDatabase((database) => {
  describe("If a claim names the account", () => {
    test("users are in the account that it names, and move when it changes", async () => {
      await using running = await startPresageWithProvider(await database.create(), {
        PRESAGE_OIDC_ACCOUNT_CLAIM: "team",
      });
      expect(await accountOf(await signInAs(running, { team: "analysts" }))).toBe("analysts");
      expect(await accountOf(await signInAs(running, { team: "builders" }))).toBe("builders");
      expect(await accountOf(await signInAs(running, { team: "analysts" }))).toBe("analysts");
    });
  });

  test("nobody's claim leads into the operator's account", async () => {
    await using running = await startPresageWithProvider(await database.create(), {
      PRESAGE_OIDC_ACCOUNT_CLAIM: "team",
    });
    await expectFailurePage(await signInAs(running, { team: "default" }), 403, /which is the operator/);
  });

  describe("Text that no database can store", () => {
    test("is rejected as a subject or an e-mail address", async () => {
      await using running = await startPresageWithProvider(await database.create());
      const known = { name: "Ada", email: "ada@example.org" };
      for (const sub of ["", "a\0b", "a\ud83d", "a".repeat(256)]) {
        running.provider.alterIdToken = (claims) => ({ ...claims, ...known, sub });
        await expectFailurePage(await signInAs(running, known), 403, /user id .* not valid text/);
      }
      for (const email of ["a\0@example.org", "\ude42@example.org", `${"a".repeat(309)}@example.org`]) {
        running.provider.alterIdToken = (claims) => ({ ...claims, ...known, email });
        await expectFailurePage(await signInAs(running, known), 403, /e-mail address .* not valid text/);
      }
      const longest = { sub: "a".repeat(255), email: `${"a".repeat(308)}@example.org` };
      running.provider.alterIdToken = (claims) => ({ ...claims, ...known, ...longest });
      expect((await signInAs(running, known)).status).toBe(200);
    });

    test("is rejected as the name of an account", async () => {
      await using running = await startPresageWithProvider(await database.create(), {
        PRESAGE_OIDC_ACCOUNT_CLAIM: "team",
      });
      for (const team of ["a\0", "a\ud83d", "a".repeat(201)]) {
        running.provider.alterIdToken = (claims) => ({ ...claims, team });
        const response = await signInAs(running, { name: "Ada", email: "ada@example.org" });
        await expectFailurePage(response, 403, /does not say which account you belong to/);
      }
    });

    test("is removed from a name", async () => {
      await using running = await startPresageWithProvider(await database.create());
      running.provider.people.set("ada", { name: `${"a".repeat(199)}🙂 and more` });
      const { response } = await signInAtProvider(openBrowser(), running.presage.url, "/v1/me");
      expect(await response.json()).toMatchObject({ name: `${"a".repeat(199)}\ufffd` });
    });
  });

  test("without a claim all users are in one account", async () => {
    await using running = await startPresageWithProvider(await database.create());
    expect(await accountOf(await signInAs(running, { team: "analysts" }))).toBe("default");
  });
});

onAnyDatabase((database) => {
  describe("If only some domains are allowed", () => {
    test("only a verified address of one of them signs in", async () => {
      await using running = await startPresageWithProvider(await database.create(), {
        PRESAGE_OIDC_ALLOWED_DOMAINS: "example.org, Lab.Example.com",
      });
      for (const email of ["ada@example.org", "ada@EXAMPLE.org", "ada@lab.example.com"]) {
        expect((await signInAs(running, { email, email_verified: true })).status).toBe(200);
      }
      for (const email of [
        "ada@example.com",
        "ada@sub.example.org",
        "ada@notexample.org",
        "ada@example.org@evil.example",
        "ada@example.org.evil.example",
      ]) {
        const response = await signInAs(running, { email, email_verified: true });
        await expectFailurePage(response, 403, /domain of your e-mail address is not allowed/);
      }
    });

    test("an unverified address is rejected, and so is a missing one", async () => {
      await using running = await startPresageWithProvider(await database.create(), {
        PRESAGE_OIDC_ALLOWED_DOMAINS: "example.org",
      });
      const email = "ada@example.org";
      for (const person of [{ email }, { email, email_verified: false }, { email, email_verified: "true" }]) {
        await expectFailurePage(await signInAs(running, person), 403, /has not verified your e-mail/);
      }
      await expectFailurePage(
        await signInAs(running, { name: "Ada" }),
        403,
        /did not provide your e-mail address/,
      );
      // Verifying one address does not verify another.
      running.provider.alterIdToken = (claims) => ({ ...claims, email: "ada@elsewhere.example" });
      const both = await signInAs(running, { email: "ada@example.org", email_verified: true });
      expect(both.status).toBe(200);
      running.provider.alterIdToken = (claims) => ({ ...claims, email });
      const mixed = await signInAs(running, { email: "ada@elsewhere.example", email_verified: true });
      await expectFailurePage(mixed, 403, /domain of your e-mail address is not allowed/);
    });
  });

  test("if a claim names the account, users without it are rejected with the reason", async () => {
    await using running = await startPresageWithProvider(await database.create(), {
      PRESAGE_OIDC_ACCOUNT_CLAIM: "team",
    });
    for (const person of [{ name: "Ada" }, { team: "" }, { team: " " }, { team: true }]) {
      const response = await signInAs(running, person as Person);
      await expectFailurePage(response, 403, /does not say which account you belong to/);
    }
  });
});
