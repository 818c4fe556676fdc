# frozen_string_literal: true

ActiveRecord::Schema[7.2].define(version: 1) do
  create_table :topics do |table|
    table.string :title, null: false
    table.integer :posts_count, null: false, default: 0
    table.datetime :last_post_at, null: false
    table.index :last_post_at
    table.timestamps
  end

  create_table :posts do |table|
    table.references :topic, null: false, foreign_key: true, index: false
    table.index %i[topic_id id] # a page of a topic costs the same however long the topic is
    table.string :author, null: false
    table.text :body, null: false
    table.timestamps
  end

  create_table :attachments do |table|
    table.references :post, null: false, foreign_key: true
    table.string :name, null: false
    table.string :content_type, null: false
    table.integer :byte_size, null: false
    table.string :sha256, null: false
    table.timestamps
  end
end
