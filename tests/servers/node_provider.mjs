// oidc-provider, a real OpenID Connect provider, almost as its own documentation starts it. It lets everybody in
// who types a name, and signs with keys of another kind than most. Arguments: the port, Colloquy's redirect address.
import { exportJWK, generateKeyPair } from "jose";
import Provider from "oidc-provider";

const [port, redirect] = process.argv.slice(2);
const { privateKey } = await generateKeyPair("ES256", { extractable: true });
const person = (sub) => ({ sub, name: `${sub} of Node`, email: `${sub}@example.com`, email_verified: true });
const provider = new Provider(`http://localhost:${port}`, {
  claims: { openid: ["sub"], profile: ["name"], email: ["email", "email_verified"] },
  clients: [
    {
      client_id: "colloquy",
      client_secret: "a secret that nobody guesses",
      redirect_uris: [redirect],
      response_types: ["code"],
      grant_types: ["authorization_code"],
      id_token_signed_response_alg: "ES256",
    },
  ],
  cookies: { keys: ["of this test"] },
  findAccount: (_, sub) => ({ accountId: sub, claims: () => person(sub) }),
  jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: "one", use: "sig", alg: "ES256" }] },
  pkce: { required: () => true },
});
provider.listen(Number(port), "localhost");
