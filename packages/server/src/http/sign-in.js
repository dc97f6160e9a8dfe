// The token is in the fragment, which no server, proxy or log ever sees. It is removed from the address bar and the history immediately.
const status = document.getElementById("status");
const help = document.getElementById("help");

if (new URLSearchParams(location.search).has("signed_out")) {
  document.querySelector("h1").textContent = "You are signed out";
}
const copyButton = document.getElementById("copy");
copyButton.addEventListener("click", copyCommand);
copyButton.hidden = false;
readToken();
// The link may be opened in a tab that already shows this page.
addEventListener("hashchange", readToken);

function readToken() {
  const token = location.hash.slice(1);
  if (token === "") return;
  history.replaceState(null, "", location.pathname + location.search);
  signIn(token);
}

async function signIn(token) {
  status.textContent = "Signing in…";
  help.hidden = true;
  try {
    const response = await fetch(`/auth/local${location.search}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token }),
    });
    const answer = await response.json();
    if (response.ok) location.replace(answer.redirect_to);
    else fail(typeof answer.detail === "string" ? answer.detail : "Signing in did not work.");
  } catch {
    fail("The server cannot be reached. Open the link again once it is up.");
  }
}

function fail(text) {
  status.textContent = text;
  status.setAttribute("role", "alert");
  help.hidden = false;
}

async function copyCommand() {
  const { textContent } = document.getElementById("command");
  copyButton.textContent = (await copyText(textContent)) ? "Copied" : "Could not copy";
  setTimeout(() => {
    copyButton.textContent = "Copy";
  }, 1_600);
}

/** The clipboard API is missing on pages served over plain HTTP and may be denied elsewhere. */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    document.addEventListener("copy", fill, { once: true });
    const isCopied = document.execCommand("copy");
    document.removeEventListener("copy", fill);
    return isCopied;
  }

  function fill(event) {
    event.preventDefault();
    event.clipboardData.setData("text/plain", text);
  }
}
