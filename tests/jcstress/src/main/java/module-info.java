/** Tests under jcstress; the module itself is empty, since all of it is for this build alone. */
module io.softdpu.jcstress {
    requires static org.jspecify;
}
