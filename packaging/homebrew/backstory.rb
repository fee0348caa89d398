class Backstory < Formula
  include Language::Python::Virtualenv

  desc "One local memory for every AI coding assistant"
  homepage "https://github.com/backstory/backstory"
  url "@URL@"
  sha256 "@SHA256@"
  license all_of: ["MIT", "Apache-2.0"]

  depends_on "python@3.13"

  def install
    virtualenv_install_with_resources
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/backstory --version")
  end
end
