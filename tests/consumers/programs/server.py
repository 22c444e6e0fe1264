"""A server that answers requests for matrices, and keeps the latest answers, for a given number of seconds."""

import json
import sys
import threading
import time
import urllib.request
from collections import OrderedDict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

SECONDS = float(sys.argv[1]) if sys.argv[1:] else 3.0
ANSWERS = OrderedDict()  # the latest 50


class Handler(BaseHTTPRequestHandler):
    """Answer ``/SEED`` with statistics of a matrix of that seed."""

    def do_GET(self):
        seed = int(self.path[1:])
        if seed not in ANSWERS:
            matrix = np.random.default_rng(seed).random((300, 300))
            ANSWERS[seed] = matrix @ matrix.T
            while len(ANSWERS) > 50:
                ANSWERS.popitem(last=False)
        found = ANSWERS[seed]
        body = json.dumps({"mean": found.mean(), "rows": found[:20].tolist()}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *facts):
        """Say nothing."""


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
asked, end = 0, time.monotonic() + SECONDS
while time.monotonic() < end:
    with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/{asked % 200}") as answer:
        assert json.load(answer)["mean"] > 70
    asked += 1
server.shutdown()
print(asked > 10)
