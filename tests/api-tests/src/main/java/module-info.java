/** Tests of misuse of the public API, generated from the API by reflection. */
module io.softdpu.api.tests {
    requires static org.jspecify;
}
