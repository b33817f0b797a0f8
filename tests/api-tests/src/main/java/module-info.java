/** What the public API does when it is misused: tests that are made from the API itself. */
module io.softdpu.api.tests {
    requires static org.jspecify;
}
