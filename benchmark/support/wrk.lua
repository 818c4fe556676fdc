-- The end of a wrk run as one line of JSON, exact where wrk's own report is rounded. Nothing runs per request.
done = function(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    'wrk-json {"duration_us":%.0f,"requests":%.0f,"bytes":%.0f,"p50_us":%.0f,"p95_us":%.0f,"p99_us":%.0f,' ..
    '"max_us":%.0f,"errors":{"connect":%d,"read":%d,"write":%d,"timeout":%d,"status":%d}}\n',
    summary.duration, summary.requests, summary.bytes, latency:percentile(50), latency:percentile(95),
    latency:percentile(99), latency.max, errors.connect, errors.read, errors.write, errors.timeout, errors.status))
end
