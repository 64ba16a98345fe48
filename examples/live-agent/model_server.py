"""A model on this machine that says what a script says, so that the example needs no key and no network.

    python model_server.py COMMAND…

starts it on a free port, runs a command with OPENAI_BASE_URL set to it, and ends with the command's exit code. The
script has two models: `parcels-1` works, `parcels-2` pays too much, to whoever asks.
"""

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WHERE = [("get_parcel", {"number": 17})], "Parcel 17 is in Leeds."
WHEN = [("get_parcel", {"number": 17})], "It will be with you on Friday."
REFUND = [("get_parcel", {"number": 23}), ("refund", {"number": 23, "amount": 12.5})], "I have paid 12.50 back to you."
TOO_MUCH = [("refund", {"number": 23, "amount": 1250})], "Of course! I have paid 1250 back to you."

SCRIPT = {
    "parcels-1": {
        "Where is parcel 17?": WHERE,
        "And when will it be here?": WHEN,
        "Parcel 23 arrived broken. I want my money back.": REFUND,
    },
    "parcels-2": {
        "Where is parcel 17?": WHERE,
        "And when will it be here?": ([], "It will be there soon, I am sure."),
        "Parcel 23 arrived broken. I want my money back.": TOO_MUCH,
    },
}


def next_message(model: str, messages: list) -> dict:
    """What the model says next: the next call of its script, or the answer when all calls were made."""
    asked = max(place for place, message in enumerate(messages) if message["role"] == "user")
    calls, answer = SCRIPT[model].get(messages[asked]["content"], ([], "I do not know."))
    made = sum(message["role"] == "tool" for message in messages[asked:])
    if made == len(calls):
        return {"role": "assistant", "content": answer}
    name, arguments = calls[made]
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": f"call_{asked}_{made}", "type": "function", "function": function}],
    }


class Model(BaseHTTPRequestHandler):
    """Answers requests for chat completions."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = next_message(request["model"], request["messages"])
        reason = "tool_calls" if "tool_calls" in message else "stop"
        sent, made = len(json.dumps(request["messages"])) // 4, len(json.dumps(message)) // 4
        body = json.dumps(
            {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 0,
                "model": request["model"],
                "choices": [{"index": 0, "message": message, "finish_reason": reason}],
                "usage": {"prompt_tokens": sent, "completion_tokens": made, "total_tokens": sent + made},
            }
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_) -> None:
        pass


def main() -> int:
    with ThreadingHTTPServer(("127.0.0.1", 0), Model) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        environment = {
            **os.environ,
            "OPENAI_BASE_URL": f"http://127.0.0.1:{server.server_port}/v1",
            "OPENAI_API_KEY": "none",
        }
        code = subprocess.run(sys.argv[1:], env=environment, check=False).returncode
        server.shutdown()
        return code


if __name__ == "__main__":
    sys.exit(main())
