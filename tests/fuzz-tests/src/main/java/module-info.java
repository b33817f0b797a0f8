/** Fuzz targets; the module itself is empty, since all of it is for this build alone. */
module io.softdpu.fuzz.tests {
    requires static org.jspecify;
}
